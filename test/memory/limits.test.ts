import assert from "node:assert/strict";
import { test } from "node:test";

import { Pace, runThrough } from "../../src/base/steps.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Facts } from "../../src/memory/facts.ts";
import { GroundBudget } from "../../src/memory/ground-budget.ts";
import { interpret, type Interpretation } from "../../src/memory/interpret.ts";
import { planOf } from "../../src/plan/build.ts";
import { gatheredEntitiesMax, groundMax } from "../../src/plan/limit.ts";
import type { Plan } from "../../src/plan/plan.ts";

/** The same walk so often costs much for each entity that it leads to. */
const wide = Array.from({ length: 20 }, () => "wide.view").join(" or ");

/** The negation leads back to its own name, so it is gathered and solved. */
function planOfView(excluded: string): Plan {
  const schema = compileSchemaText(`entity user {}
entity node {
  relation owner @user
  relation wide @node
  relation rest @node
  permission view = owner not (${excluded})
}`);
  const asked = { entityType: "node", permission: "view", subjectType: "user" };
  return planOf(schema, { ...asked, subjectRelation: "", arguments: [] }, (field) => field);
}

const wideView = planOfView(`rest.view or ${wide}`);
const restView = planOfView("rest.view");

/** A node that leads to so many others by its relations, of which nothing else is known. */
function star(counts: { readonly wide: number; readonly rest: number }): Facts {
  return {
    hasTuple: ({ id }) => id === "top",
    *subjectIds({ id }, relations) {
      if (id !== "top") return;
      for (const relation of relations) {
        const count = relation === "wide" ? counts.wide : relation === "rest" ? counts.rest : 0;
        for (let place = 0; place < count; place += 1) yield `n${place}`;
      }
    },
    *subjects(entity, relation, type) {
      for (const id of this.subjectIds(entity, [relation], type, undefined)) {
        yield { id, relation: "" };
      }
    },
    attribute: () => undefined,
  };
}

function answer(
  facts: Facts,
  { plan = wideView, budget = new GroundBudget() } = {},
): Interpretation {
  return runThrough(
    interpret(plan, {
      facts,
      entityId: "top",
      subject: { type: "user", id: "ann", relation: "" },
      depth: 100,
      data: {},
      budget,
      pace: new Pace(),
    }),
  );
}

test("an answer that as many entities lead to as may be is solved, one more is too large", () => {
  const kindOf = (rest: number): string => answer(star({ wide: 0, rest }), { plan: restView }).kind;
  assert.equal(kindOf(gatheredEntitiesMax - 1), "answer");
  assert.equal(kindOf(gatheredEntitiesMax), "too_large");
});

/** The negation, the name and the two operands, their relation and `or`, and 21 walks. */
const alone = 1 + 3 + 2 + 21;

test("what is grounded for an answer is counted in names, operands and hops, up to its bound", () => {
  assert.equal(spentBy(star({ wide: 0, rest: 0 })), alone);
  // The hops of 20 walks, and the same for the node itself.
  const each = 20 + alone;
  assert.equal(spentBy(star({ wide: 5, rest: 0 })), alone + 5 * each);
  // One more path to a node that is known is one hop.
  assert.equal(spentBy(star({ wide: 5, rest: 3 })), alone + 5 * each + 3);
  const most = Math.floor((groundMax.answer - alone) / each);
  const left = groundMax.answer - alone - most * each;
  assert.equal(spentBy(star({ wide: most, rest: left })), groundMax.answer);
  assert.equal(answer(star({ wide: most, rest: left + 1 })).kind, "too_large");
});

test("the answers of a request share its bound", () => {
  const budget = new GroundBudget();
  for (let spent = 0; spent < groundMax.request - alone; spent += 1) assert.ok(budget.spend());
  assert.equal(answer(star({ wide: 0, rest: 0 }), { budget }).kind, "answer");
  assert.equal(answer(star({ wide: 0, rest: 0 }), { budget }).kind, "too_large");
});

/** How much of a request's budget the answer takes. */
function spentBy(facts: Facts): number {
  let spent = 0;
  const counting = new (class extends GroundBudget {
    override spend(): boolean {
      spent += 1;
      return super.spend();
    }
  })();
  assert.equal(answer(facts, { budget: counting }).kind, "answer");
  return spent;
}
