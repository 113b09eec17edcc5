import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { explanationMax, gatheredEntitiesMax } from "../../src/plan/limit.ts";
import { hostileSchemas } from "../data/hostile-schemas.ts";
import { type Answer, engines, type TestApp } from "../support/engines.ts";
import type { ProofBody } from "../support/proof-lines.ts";
import { restFacts } from "../support/rest-facts.ts";

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity note {
  attribute text string
  relation reader @user
  permission view = named(text) or reader
  permission held = long(text)
}
entity list { relation note @note permission held = note.held }
rule named(text string) { text == "plan" }
rule long(text string) { ${Array.from({ length: 200 }, (_, index) => `text == "t${index}"`).join(" || ")} }
`;

const nested = (from: string, to: string): string => `group:${from}#member@group:${to}#member`;

const wide = Array.from({ length: explanationMax.nodes }, (_, index) =>
  nested("wide", `w${index}`),
);
const wider = Array.from({ length: gatheredEntitiesMax + 1 }, (_, index) =>
  nested("wider", `v${index}`),
);
const chain = Array.from({ length: explanationMax.levels + 10 }, (_, index) =>
  nested(`c${index}`, `c${index + 1}`),
);

/** Too few for the nodes of a tree, and with the body of the rule at each of them too many for its size. */
const notes = Array.from({ length: 1_500 }, (_, index) => `list:1#note@note:n${index}`);

interface Body {
  readonly can: string;
  readonly proof: ProofBody;
  readonly truncated: boolean;
}

for (const engine of engines) {
  describe(`limits of explain on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;

    before(async () => {
      app = await engine.start({ maxDataPerWrite: 25_000 });
      path = await app.tenant(schema);
      const last = `group:c${explanationMax.levels + 10}#member@user:ada`;
      const long = `note:1$text|string:${"x".repeat(explanationMax.valueCharacters)}`;
      for (const facts of [[...wide, ...chain, last, long, ...notes], wider]) {
        const written = await app.post(`${path}/data/write`, { metadata: {}, ...restFacts(facts) });
        assert.equal(written.status, 200, written.message);
      }
    });
    after(() => app.close());

    const send = async (entity: string, permission: string, depth: number): Promise<Answer> => {
      const [type, id] = entity.split(":");
      return await app.post(`${path}/permissions/explain`, {
        metadata: { depth },
        entity: { type, id },
        permission,
        subject: { type: "user", id: "ada" },
      });
    };

    async function explain(entity: string, permission = "member", depth = 100): Promise<Body> {
      const answer = await send(entity, permission, depth);
      assert.equal(answer.status, 200, answer.message);
      return answer.body as Body;
    }

    test("of a tree with too many nodes the part next to the question is there", async () => {
      const { can, proof, truncated } = await explain("group:wide");
      assert.equal(can, "RESULT_DENIED");
      assert.equal(truncated, true);
      assert.equal(sizeOf(proof), explanationMax.nodes);
      assert.deepEqual(
        proof.children.slice(0, 2).map(({ tuple }) => tuple?.subject.id),
        ["w0", "w1"],
      );
    });

    test("of a proof with too many levels the first ones are there", async () => {
      const { can, proof, truncated } = await explain("group:c0", "member", 1_000);
      assert.equal(can, "RESULT_ALLOWED");
      assert.equal(truncated, true);
      assert.equal(sizeOf(proof), explanationMax.levels);
    });

    test("of a permission with too many operands the first ones are there", async () => {
      const wideSchema = hostileSchemas().find(({ name }) => name.startsWith("5,000 relations"));
      const tenant = await app.tenant(must(wideSchema, "there is one").schema);
      const { status, body } = await app.post(`${tenant}/permissions/explain`, {
        metadata: {},
        entity: { type: "doc", id: "1" },
        permission: "view",
        subject: { type: "user", id: "ada" },
      });
      assert.equal(status, 200);
      const { proof, truncated } = body as Body;
      assert.equal(truncated, true);
      assert.equal(sizeOf(proof), explanationMax.nodes);
    });

    test("a value that is too long is left out", async () => {
      const { proof, truncated } = await explain("note:1", "view");
      assert.equal(truncated, true);
      const [rule] = proof.children;
      assert.deepEqual(rule?.rule, {
        name: "named",
        values: {},
        expression: 'text == "plan"',
        line: 11,
        column: 27,
      });
    });

    test("of a long body of a rule the first characters are there", async () => {
      const { proof } = await explain("note:2", "held");
      const { expression } = proof.rule ?? assert.fail();
      assert.match(expression, /^text == "t0" \|\| text/);
      assert.equal(expression.length, 1_000);
    });

    test("the bodies of rules count for the size of a tree", async () => {
      const { proof, truncated } = await explain("list:1", "held");
      assert.equal(truncated, true);
      assert.ok(sizeOf(proof) < explanationMax.nodes);
    });

    test("a long text of an expression is cut, but no character of it", async () => {
      const cut = `member /*${"x".repeat(990)}`;
      const tenant = await app.tenant(
        `entity user {} entity group { relation member @user permission join = ${cut}😀*/ or member }`,
      );
      const { status, body } = await app.post(`${tenant}/permissions/explain`, {
        metadata: {},
        entity: { type: "group", id: "1" },
        permission: "join",
        subject: { type: "user", id: "ada" },
      });
      assert.equal(status, 200);
      assert.equal((body as Body).proof.expression, cut);
    });

    test("a small tree is whole", async () => {
      const { proof, truncated } = await explain("note:2", "view");
      assert.equal(truncated, false);
      assert.equal(sizeOf(proof), 3);
    });

    test("more entities than are read for an answer are refused", async () => {
      const { status, message } = await send("group:wider", "member", 100);
      assert.equal(status, 400);
      assert.match(message, /^ERROR_CODE_GATHER_LIMIT_EXCEEDED: permission: more than 10000/);
    });
  });
}

/** A wide tree is too large for the stack. */
function sizeOf(proof: ProofBody): number {
  const nodes = [proof];
  for (const { children } of nodes) nodes.push(...children);
  return nodes.length;
}
