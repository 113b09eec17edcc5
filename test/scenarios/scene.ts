import assert from "node:assert/strict";
import { test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { type Context, emptyContext } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { CheckItem, QuestionFrame } from "../../src/store/store.ts";
import type { Round } from "../differential/case.ts";
import type { Engines } from "../differential/engines.ts";
import { factsOf, tupleOf } from "../differential/facts-text.ts";
import { expectation, type Outcome } from "../differential/oracle.ts";
import { ask, factsAfter, tell } from "../differential/story.ts";

/** A schema with data in text notation, and questions with the answers that people expect. */
export interface Scene {
  readonly schema: string;
  readonly facts: readonly string[];
  readonly questions: readonly Question[];
}

export interface Question {
  /** `<entity> <permission> <subject>`, such as `folder:a view group:g#member`. */
  readonly ask: string;
  readonly answer: Outcome;
  /** Attribute names, when a rule is asked. */
  readonly arguments?: readonly string[];
  readonly depth?: number;
  /** Contextual facts, in text notation. */
  readonly with?: readonly string[];
  readonly data?: Context["data"];
}

/** One test for each engine, and one that the oracle expects the same. */
export function play(engines: () => Engines, name: string, scene: Scene): void {
  const write = { schema: 0, ...factsOf(scene.facts) };
  for (const engine of ["memory", "postgres"] as const) {
    test(`${name} (${engine})`, async () => {
      const story = await tell(engines()[engine], { schemas: [scene.schema], writes: [write] });
      for (const question of scene.questions) {
        const [outcome] = await ask(story, roundOf(question));
        assert.equal(outcome, question.answer, textOf(question));
      }
    });
  }
  test(`${name} (oracle)`, () => {
    const schema = compileSchemaText(scene.schema);
    const facts = factsAfter([write], null);
    for (const question of scene.questions) {
      const { context, depth, items } = roundOf(question);
      const item = must(items[0], "a round has an item");
      const { outcomes } = expectation({ schema, facts, context, ...item }, depth);
      assert.deepEqual([...outcomes], [question.answer], textOf(question));
    }
  });
}

/** How a question is asked of a store that names no state and brings nothing along. */
export const plainFrame: QuestionFrame = {
  schemaVersion: undefined,
  snapToken: undefined,
  depth: 100,
  context: emptyContext,
};

/** The question as a round of one item. */
export function roundOf(question: Question): Round {
  const facts = factsOf(question.with ?? []);
  return {
    schema: null,
    after: null,
    depth: question.depth ?? 100,
    context: { ...facts, data: question.data ?? {} },
    items: [itemOf(question)],
  };
}

function itemOf(question: Question): CheckItem {
  const [entity = "", permission = "", subject = ""] = question.ask.split(" ");
  const tuple = tupleOf(`${entity}#${permission}@${subject}`);
  return {
    entity: tuple.entity,
    permission: tuple.relation,
    subject: tuple.subject,
    arguments: question.arguments ?? [],
  };
}

function textOf(question: Question): string {
  return `${question.ask} at depth ${question.depth ?? 100}`;
}
