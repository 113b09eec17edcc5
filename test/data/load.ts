import { once } from "node:events";
import type { Writable } from "node:stream";

import postgres from "postgres";

import type { Attribute, Tuple } from "../../src/base/tuple.ts";
import type { Fact } from "./dataset.ts";

const CHUNK_CHARACTERS = 1 << 18;

/**
 * Copies facts straight into the tables, in one transaction, and vacuums, so that index-only scans
 * are possible at once. The log of changes stays empty: no question of a benchmark is about the
 * past, and a write through the store takes several times as long.
 *
 * @param tenant the number of the tenant in the tables
 * @returns how many facts there were, and the seconds that copying took
 */
export async function loadFacts(
  url: string,
  tenant: string,
  facts: () => Iterable<Fact>,
): Promise<{ readonly count: number; readonly seconds: number }> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const started = performance.now();
    const count = await sql.begin(async (transaction) => {
      const [row] = await transaction<{ xid: string }[]>`select pg_current_xact_id()::text as xid`;
      const xid = row?.xid ?? "0";
      const tuples = await copyInto(
        await transaction`
          copy relationships (tenant, entity_type, entity_id, relation,
            subject_type, subject_id, subject_relation, created_xid) from stdin`.writable(),
        tuplesOf(facts()),
        (tuple) => tupleLine(tenant, tuple, xid),
      );
      const attributes = await copyInto(
        await transaction`
          copy attributes (tenant, entity_type, entity_id, attribute,
            value_type, value, created_xid) from stdin`.writable(),
        attributesOf(facts()),
        (attribute) => attributeLine(tenant, attribute, xid),
      );
      return tuples + attributes;
    });
    const seconds = (performance.now() - started) / 1000;
    await sql`vacuum (analyze) relationships, attributes`;
    return { count, seconds };
  } finally {
    await sql.end();
  }
}

async function copyInto<T>(
  target: Writable,
  items: Iterable<T>,
  line: (item: T) => string,
): Promise<number> {
  let copied = 0;
  let chunk = "";
  for (const item of items) {
    chunk += line(item);
    copied += 1;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    if (!target.write(chunk)) await once(target, "drain");
    chunk = "";
  }
  target.end(chunk);
  await once(target, "finish");
  return copied;
}

function* tuplesOf(facts: Iterable<Fact>): Generator<Tuple> {
  for (const fact of facts) if (fact.kind === "tuple") yield fact.tuple;
}

function* attributesOf(facts: Iterable<Fact>): Generator<Attribute> {
  for (const fact of facts) if (fact.kind === "attribute") yield fact.attribute;
}

/** Generated ids hold no character that the text form of copy would escape. */
function tupleLine(tenant: string, { entity, relation, subject }: Tuple, xid: string): string {
  const columns = [entity.type, entity.id, relation, subject.type, subject.id, subject.relation];
  return `${tenant}\t${columns.join("\t")}\t${xid}\n`;
}

function attributeLine(
  tenant: string,
  { entity, attribute, value }: Attribute,
  xid: string,
): string {
  const columns = [entity.type, entity.id, attribute, value.type, JSON.stringify(value.data)];
  return `${tenant}\t${columns.join("\t")}\t${xid}\n`;
}
