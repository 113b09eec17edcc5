import { type Static, Type } from "typebox";

import type { SchemaDifference } from "../../authoring/diff/diff.ts";
import { askTenant } from "../client/ask.ts";
import type { Server } from "../client/send.ts";

/** What still uses a name that vanishes, or that changes so that data no longer fits. */
export interface NameUses {
  readonly tuples: number;
  readonly attributes: number;
  /** There may be more, because counting ended at its limit. */
  readonly isLimited: boolean;
}

/** Counting reads the data, so it ends at some number. */
const countMax = 10_000;
const pageSize = 1_000;

const EntityOfAnswer = Type.Object({ type: Type.String() });

const TuplesAnswer = Type.Object({
  tuples: Type.Array(
    Type.Object({
      entity: EntityOfAnswer,
      subject: Type.Object({ type: Type.String(), relation: Type.Optional(Type.String()) }),
    }),
  ),
  continuous_token: Type.String(),
});
type AnsweredTuple = Static<typeof TuplesAnswer>["tuples"][number];

const AttributesAnswer = Type.Object({
  attributes: Type.Array(Type.Object({ entity: EntityOfAnswer })),
  continuous_token: Type.String(),
});

/** Counts the tuples and attributes on a server that use a name. Undefined if none can. */
export async function countUses(
  server: Server,
  { kind, of, name, removedTypes }: SchemaDifference,
): Promise<NameUses | undefined> {
  if (kind === "added") return undefined;
  const [type = "", member = ""] = name.split("#");
  switch (of) {
    case "entity":
      return sumOf([
        await countTuples(server, { entity: { type } }),
        // Those of the type itself are counted already.
        await countTuples(server, { subject: { type } }, ({ entity }) => entity.type !== type),
        await countAttributes(server, { entity: { type } }),
      ]);
    case "relation": {
      const filter = { entity: { type }, relation: member };
      if (kind === "removed") return await countTuples(server, filter);
      const counts: NameUses[] = [];
      for (const removed of removedTypes) {
        const subject = { type: removed.type, relation: removed.relation };
        const isOfType = (tuple: AnsweredTuple): boolean =>
          (tuple.subject.relation ?? "") === removed.relation;
        counts.push(await countTuples(server, { ...filter, subject }, isOfType));
      }
      return counts.length === 0 ? undefined : sumOf(counts);
    }
    case "attribute":
      return await countAttributes(server, { entity: { type }, attributes: [member] });
    case "permission":
    case "rule":
      return undefined;
  }
}

function sumOf(counts: readonly NameUses[]): NameUses {
  return {
    tuples: counts.reduce((sum, { tuples }) => sum + tuples, 0),
    attributes: counts.reduce((sum, { attributes }) => sum + attributes, 0),
    isLimited: counts.some(({ isLimited }) => isLimited),
  };
}

async function countTuples(
  server: Server,
  filter: unknown,
  counts: (tuple: AnsweredTuple) => boolean = () => true,
): Promise<NameUses> {
  const { count, isLimited } = await countPages(async (page) => {
    const answer = await askTenant(server, "data/relationships/read", {
      body: { metadata: {}, filter, ...page },
      answer: TuplesAnswer,
    });
    return { count: answer.tuples.filter(counts).length, next: answer.continuous_token };
  });
  return { tuples: count, attributes: 0, isLimited };
}

async function countAttributes(server: Server, filter: unknown): Promise<NameUses> {
  const { count, isLimited } = await countPages(async (page) => {
    const answer = await askTenant(server, "data/attributes/read", {
      body: { metadata: {}, filter, ...page },
      answer: AttributesAnswer,
    });
    return { count: answer.attributes.length, next: answer.continuous_token };
  });
  return { tuples: 0, attributes: count, isLimited };
}

/** Adds up the pages until there are no more, or enough were read. */
async function countPages(
  read: (page: object) => Promise<{ readonly count: number; readonly next: string }>,
): Promise<{ readonly count: number; readonly isLimited: boolean }> {
  let count = 0;
  let next = "";
  for (let seen = 0; seen < countMax; seen += pageSize) {
    const page = await read({
      page_size: pageSize,
      ...(next !== "" && { continuous_token: next }),
    });
    count += page.count;
    if (page.next === "") return { count, isLimited: false };
    next = page.next;
  }
  return { count, isLimited: true };
}
