import assert from "node:assert/strict";
import { test } from "node:test";

import { dotOf } from "../../src/authoring/graph/dot.ts";
import { graphOf, type SchemaGraph } from "../../src/authoring/graph/graph.ts";
import { mermaidOf } from "../../src/authoring/graph/mermaid.ts";
import { compileSchemaText } from "../../src/language/compile.ts";

const text = `entity user {}
entity end { relation subgraph @user @end#subgraph }
entity document {
  relation parent @document
  relation viewer @user @end#subgraph
  relation blocked @user
  attribute level integer
  permission view = (viewer or parent.view or (viewer and high(level))) not (blocked not viewer)
}
rule high(level integer) { level > 3 }`;

const graph: SchemaGraph = graphOf(compileSchemaText(text));

test("a graph as Mermaid has clusters, shapes and labelled arrows, and no name as a word", () => {
  assert.equal(
    mermaidOf(graph),
    `flowchart LR
  n0[["user"]]
  subgraph n1_members [" "]
    n1[["end"]]
    n2["subgraph"]
  end
  subgraph n3_members [" "]
    n3[["document"]]
    n4["parent"]
    n5["viewer"]
    n6["blocked"]
    n7[/"level"/]
    n8(["view"])
  end
  n9{{"high"}}
  n2 -.-> n0
  n2 -.-> n2
  n4 -.-> n3
  n5 -.-> n0
  n5 -.-> n2
  n6 -.-> n0
  n8 --> n5
  n8 -->|"parent"| n8
  n8 --> n9
  n8 --> n7
  n8 -->|"not"| n6
`,
  );
});

test("a graph as DOT quotes every label", () => {
  assert.equal(
    dotOf(graph),
    `digraph schema {
  rankdir=LR;
  n0 [shape=box3d, label="user"];
  subgraph cluster_n1 {
    n1 [shape=box3d, label="end"];
    n2 [shape=box, label="subgraph"];
  }
  subgraph cluster_n3 {
    n3 [shape=box3d, label="document"];
    n4 [shape=box, label="parent"];
    n5 [shape=box, label="viewer"];
    n6 [shape=box, label="blocked"];
    n7 [shape=parallelogram, label="level"];
    n8 [shape=ellipse, label="view"];
  }
  n9 [shape=hexagon, label="high"];
  n2 -> n0 [style=dashed];
  n2 -> n2 [style=dashed];
  n4 -> n3 [style=dashed];
  n5 -> n0 [style=dashed];
  n5 -> n2 [style=dashed];
  n6 -> n0 [style=dashed];
  n8 -> n5;
  n8 -> n8 [label="parent"];
  n8 -> n9;
  n8 -> n7;
  n8 -> n6 [label="not"];
}
`,
  );
});

test("labels are escaped", () => {
  const odd = { id: "n0", kind: "entity", label: 'a"b\\c#d' } as const;
  const drawn = { clusters: [{ entity: odd, members: [] }], rules: [], edges: [] };
  assert.match(mermaidOf(drawn), /n0\[\["a#quot;b\\c#35;d"\]\]/);
  assert.match(dotOf(drawn), /label="a\\"b\\\\c#d"/);
});

test("a walk past a type without the name has no arrow there", () => {
  const { edges } = graphOf(
    compileSchemaText(`entity user { relation boss @user permission see = boss }
entity team { relation member @user }
entity document { relation author @user @team#member permission see = author.see }`),
  );
  assert.deepEqual(
    edges.filter(({ label }) => label === "author").map(({ to }) => to),
    ["n2"],
  );
});

test("a long chain of operators is drawn", () => {
  const chain = "a or b and ".repeat(10_000);
  const { edges } = graphOf(
    compileSchemaText(`entity e { relation a @e relation b @e permission p = ${chain} a }`),
  );
  assert.equal(edges.length, 4);
});
