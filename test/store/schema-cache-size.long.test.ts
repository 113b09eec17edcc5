import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { must } from "../../src/base/assert.ts";
import type { SchemaVersion, TenantId } from "../../src/base/tuple.ts";
import { plainShape } from "../../src/sql/push-down.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { CheckPlans } from "../../src/store/postgres/questions/check-plan.ts";
import { LookupPlans } from "../../src/store/postgres/questions/lookup-plan.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { nameOf } from "../language/numbered-name.ts";

/*
 * What schemas, plans and statements are counted as is what they hold on the heap, within 30 %: the
 * limit of the cache is one of memory then.
 */

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

const tenant = "cache" as TenantId;
const megabyte = 1024 * 1024;

function heapUsed(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Permissions that each ask the one before twice. */
function chain(version: number, operators: readonly string[]): string {
  const own = nameOf(version);
  const permissions = Array.from({ length: 40 }, (_, index) => {
    const before = index === 0 ? "viewer" : `p_${own}_${nameOf(index - 1)}`;
    const operator = operators[index % operators.length] ?? "or";
    return `permission p_${own}_${nameOf(index)} = ${before} ${operator} up.${before}`;
  });
  return `entity user {} entity doc { relation up @doc relation viewer @user ${permissions.join("\n")} }`;
}

/** Folders with usersets, rules and exclusions, as people write them. */
function folders(version: number): string {
  const own = nameOf(version);
  const types = Array.from({ length: 6 }, (_, index) => {
    const type = `folder_${own}_${nameOf(index)}`;
    return `entity ${type} {
      relation parent @${type}
      relation viewer @user @group#member
      relation owner @user
      relation banned @user @group#member
      attribute level integer
      permission read = viewer or owner or parent.read
      permission view = (viewer or parent.view) not banned
      permission high = view and above(level)
      permission odd = viewer not parent.odd
    }`;
  });
  return `entity user {} entity group { relation member @user @group#member } ${types.join("\n")}
    rule above(level integer) { level > context.data.limit && level < 1000 || context.data.all == true }`;
}

const kinds: ReadonlyMap<string, (version: number) => string> = new Map([
  ["chains of `or`", (version: number) => chain(version, ["or"])],
  ["chains of every operator", (version: number) => chain(version, ["or", "and", "not"])],
  ["folders", folders],
]);

interface Cache {
  readonly schemas: CompiledSchemas;
  /** Asks every name of a version, as a check and as lookups. */
  readonly ask: (version: number) => Promise<void>;
}

function openCache(textOf: (version: number) => string, maxBytes: number): Cache {
  const schemas = new CompiledSchemas(
    async (_tenant, version) => {
      const text = textOf(Number(version));
      const stored = { version: must(version, "a version is asked"), text, createdAt: new Date() };
      return await Promise.resolve(stored);
    },
    { maxBytes },
  );
  const checks = new CheckPlans(schemas);
  const lookups = new LookupPlans(schemas);
  const shape = {
    ...plainShape,
    openRules: new Set<string>(),
    scopedTypes: [],
    judgesTogether: true,
  };
  const ask = async (version: number): Promise<void> => {
    const compiled = await schemas.find(tenant, String(version) as SchemaVersion);
    for (const entity of compiled.schema.entities.values()) {
      for (const permission of [...entity.permissions.keys(), ...entity.relations.keys()]) {
        const item: CheckItem = {
          entity: { type: entity.name, id: "a" },
          permission,
          subject: { type: "user", id: "b", relation: "" },
          arguments: [],
        };
        const path = (_item: number, field: string): string => field;
        const groups = await checks.groupsOf({ compiled, items: [item], path });
        checks.statementOf(compiled.compiled, groups, plainShape);
        const [group] = groups;
        assert.ok(group?.kind === "planned");
        const { plan } = must(group.items[0], "an item has a plan");
        const planning = {
          compiled: compiled.compiled,
          question: plan.question,
          path: (field: string) => field,
        };
        for (const end of ["entities", "subjects"] as const) {
          lookups.statementOf(await lookups.planOf(end, planning), shape);
        }
      }
    }
  };
  return { schemas, ask };
}

async function askVersions({ ask }: Cache, from: number, to: number): Promise<void> {
  for (let version = from; version < to; version += 1) await ask(version);
}

for (const [name, textOf] of kinds) {
  test(`${name} are counted as what they hold on the heap`, async () => {
    // What is compiled once, of code and of caches of its own, is none of what is measured.
    const cache = openCache(textOf, 1024 * megabyte);
    await askVersions(cache, 0, 3);
    const before = { heap: heapUsed(), counted: cache.schemas.limit.bytes };
    await askVersions(cache, 3, 8);
    const held = heapUsed() - before.heap;
    const ratio = (cache.schemas.limit.bytes - before.counted) / held;
    assert.ok(ratio > 0.7 && ratio < 1.3, `counted ${ratio.toFixed(2)} of what is held`);
  });
}

test("the heap stays flat however many versions there are", async () => {
  // A version takes a megabyte.
  const cache = openCache(folders, 4 * megabyte);
  await askVersions(cache, 0, 8);
  const before = heapUsed();
  await askVersions(cache, 8, 26);
  const grown = heapUsed() - before;
  assert.ok(cache.schemas.limit.bytes <= 4 * megabyte);
  assert.ok(grown < 2 * megabyte, `${Math.round(grown / 1024)} KiB more`);
});
