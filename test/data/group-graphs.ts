import { type Dataset, type Fact, fact, type Question } from "./dataset.ts";

/** Nodes of each graph. */
const NODES = 400;

/** Edges out of each node, one of them to the next node. */
const DEGREE = 20;

const schema = `
entity user {}

entity group {
  relation member @user @group#member
}

entity document {
  relation viewer @user @group#member
  permission view = viewer
}
`;

type Kind = "cyclic" | "acyclic";

/**
 * Groups in groups, twice: one graph is strongly connected, the other has as many nodes and edges
 * and no cycle. Each has a twin that nothing connects it with. A denied question is about a member
 * of the twin's last group, so that whichever end a check starts from, it sees a whole graph.
 */
export const groupGraphs: Dataset = {
  name: "group_graphs",
  schema,
  key: `${NODES} ${DEGREE}`,
  facts: graphFacts,
  classes: (["cyclic", "acyclic"] as const).flatMap((kind) => [
    { name: `${kind} allowed`, questions: [ask(kind, "member", true)] },
    { name: `${kind} denied`, questions: [ask(kind, "outsider", false)] },
  ]),
};

function* graphFacts(): Generator<Fact> {
  for (const kind of ["cyclic", "acyclic"] as const) {
    for (const part of ["main", "twin"]) {
      const group = (node: number) => ({ type: "group", id: `${kind}-${part}-${node}` });
      for (const [from, to] of edges(kind)) yield fact(group(from), "member", group(to), "member");
      const user = part === "main" ? "member" : "outsider";
      yield fact(group(NODES - 1), "member", { type: "user", id: `${kind}-${user}` });
    }
    const document = { type: "document", id: kind };
    yield fact(document, "viewer", { type: "group", id: `${kind}-main-0` }, "member");
  }
}

/** Without repeats and loops; the acyclic ones lead to higher numbers only. */
function* edges(kind: Kind): Generator<readonly [number, number]> {
  for (let from = 0; from < NODES; from++) {
    const targets = new Set<number>();
    for (let nth = 0; nth < DEGREE; nth++) {
      // The first step is 1, so that every node is reached from 0 and reaches the last one.
      const step = 1 + ((nth * (from + 7) * 13) % (NODES - 1));
      if (kind === "cyclic") targets.add((from + step) % NODES);
      else if (from < NODES - 1) targets.add(from + 1 + ((step - 1) % (NODES - 1 - from)));
    }
    for (const to of targets) yield [from, to];
  }
}

function ask(kind: Kind, user: string, allowed: boolean): Question {
  return {
    entity: { type: "document", id: kind },
    permission: "view",
    user: `${kind}-${user}`,
    allowed,
  };
}
