/** What moves must not leave behind. */
import assert from "node:assert/strict";

import { clusterNames, type Fleet } from "./fleet.ts";
import { rowsOf } from "./rows.ts";
import { eventually } from "./within.ts";

/** Rows of tenants that are not there, and what is noted of moves that have not ended. */
const leftovers = [
  "select from relationships as r where not exists (select from tenants where number = r.tenant)",
  "select from attributes as r where not exists (select from tenants where number = r.tenant)",
  "select from removed_tenants",
  "select from departures",
  "select from arrivals",
  "select from moves where step <> 'ended'",
];

/** Instances look for what movers have left once a minute, each at another moment. */
const leftMaxMs = 180_000;

/** What movers left is removed by the instances that run. */
export async function verifyNothingLeft({ urls }: Fleet): Promise<void> {
  for (const url of urls) {
    for (const statement of leftovers) {
      const none = async () => ((await rowsOf(url, statement)).length === 0 ? true : undefined);
      await eventually(`none of ${statement}`, none, leftMaxMs);
    }
  }
}

/** Each tenant is on one server, and it is the one that the directory names. */
export async function verifyPlacements({ urls }: Fleet): Promise<void> {
  const stored: object[] = [];
  for (const [index, url] of urls.entries()) {
    const rows = await rowsOf(url, "select id as tenant from tenants");
    stored.push(...rows.map((row) => ({ ...row, cluster: clusterNames[index], state: "placed" })));
  }
  const placed = await rowsOf(urls[0] ?? "", "select tenant, cluster, state from placements");
  const sorted = (rows: readonly object[]): readonly string[] =>
    rows.map((row) => JSON.stringify(row)).toSorted();
  assert.deepEqual(sorted(stored), sorted(placed));
}
