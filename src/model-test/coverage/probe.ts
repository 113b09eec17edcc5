import { must } from "../../base/assert.ts";
import { PembaError } from "../../base/error.ts";
import type { Context, Entity, Subject } from "../../base/tuple.ts";
import { printExpression } from "../../language/print.ts";
import type { EntityNode, SchemaTree } from "../../language/tree.ts";
import { bulkCheck, check } from "../../service/permissions.ts";
import type { TestTenant } from "../run/run-model.ts";
import type { KnownValue } from "./decisive.ts";
import { type LeafNode, leavesOf } from "./schema-part.ts";

/** What a question is asked with. */
export interface ProbeFrame {
  readonly depth: number;
  readonly context: Context;
  /** Answers of this frame, by what was asked. */
  readonly known: Map<string, KnownValue>;
}

export interface Probe {
  readonly entity: Entity;
  readonly name: string;
  readonly subject: Subject;
}

/** A schema in which each walk and each call of a rule has a name of its own, so that it can be asked. */
export interface ProbedSchema {
  readonly text: string;
  /** The name to ask for a leaf of an expression of this entity type. */
  nameOf(entityType: string, leaf: LeafNode): string;
}

/** Gives names to the walks and calls of a schema. Nothing else of it changes. */
export function probedSchema(tree: SchemaTree): ProbedSchema {
  const names = new Map<string, string>();
  let text = "";
  let copied = 0;
  for (const statement of tree.statements) {
    if (statement.kind === "rule") continue;
    const added = namesFor(statement);
    for (const [leaf, name] of added) names.set(`${statement.name.text} ${leaf}`, name);
    const lines = [...added].map(([leaf, name]) => `\npermission ${name} = ${leaf}\n`);
    text += tree.source.text.slice(copied, statement.close) + lines.join("");
    copied = statement.close;
  }
  return {
    text: text + tree.source.text.slice(copied),
    nameOf: (entityType, leaf) =>
      isPlain(leaf)
        ? printExpression(leaf)
        : must(
            names.get(`${entityType} ${printExpression(leaf)}`),
            "each walk and call has a name",
          ),
  };
}

function isPlain(leaf: LeafNode): boolean {
  return leaf.kind === "reference" && leaf.rest.length === 0;
}

/** A name for each different walk and call of an entity. */
function namesFor(entity: EntityNode): ReadonlyMap<string, string> {
  const taken = new Set(entity.members.map(({ name }) => name.text));
  const added = new Map<string, string>();
  let number = 0;
  for (const member of entity.members) {
    if (member.kind !== "permission") continue;
    for (const leaf of leavesOf(member.expression)) {
      const written = printExpression(leaf);
      if (isPlain(leaf) || added.has(written)) continue;
      let name: string;
      do name = `operand_${lettersOf(number++)}`;
      while (taken.has(name));
      added.set(written, name);
    }
  }
  return added;
}

/** Names have no digits. */
function lettersOf(number: number): string {
  return number.toString().replaceAll(/\d/g, (digit) => "abcdefghij".charAt(Number(digit)));
}

/** The answers to probes, in their order. Undefined for one without an answer. */
export async function answersTo(
  { service, tenantId }: TestTenant,
  { depth, context, known }: ProbeFrame,
  probes: readonly Probe[],
): Promise<readonly KnownValue[]> {
  const open = new Map(
    probes.flatMap((probe) => (known.has(probeKey(probe)) ? [] : [[probeKey(probe), probe]])),
  );
  const left = [...open.values()];
  const frame = { tenantId, metadata: { depth }, context };
  for (let start = 0; start < left.length; start += service.bulkLimit) {
    const part = left.slice(start, start + service.bulkLimit);
    const items = part.map(({ entity, name, subject }) => ({ entity, permission: name, subject }));
    const answers = await orUndefined(async () => await bulkCheck(service, { ...frame, items }));
    for (const [index, probe] of part.entries()) {
      // One item without an answer fails all.
      const answer =
        answers === undefined
          ? await orUndefined(async () => await check(service, { ...frame, ...items[index] }))
          : answers[index];
      known.set(probeKey(probe), answer?.allowed);
    }
  }
  return probes.map((probe) => known.get(probeKey(probe)));
}

/** The result, or undefined if the question has no answer. */
async function orUndefined<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof PembaError && error.kind !== "internal") return undefined;
    throw error;
  }
}

/** Equal for equal probes: names and ids have no blanks. */
export function probeKey({ entity, name, subject }: Probe): string {
  return `${entity.type} ${entity.id} ${name} ${subject.type} ${subject.id} ${subject.relation}`;
}
