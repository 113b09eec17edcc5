import { must } from "../../src/base/assert.ts";
import { orderOf } from "../../src/cli/sql/list-names.ts";
import { type AskedList, printList } from "../../src/cli/sql/list-print.ts";
import { readingDatabase } from "../../src/cli/sql/list-table.ts";
import { type ListBounds, usualBounds } from "../../src/sql/list/list.ts";
import type { InterfaceScene } from "./interface-scene.ts";

/** Bounds with which a list finds its rows in one way, for all data. */
export const ways: Readonly<Record<string, ListBounds>> = {
  usual: usualBounds,
  candidates: { reached: 100_000, each: 100_000, candidates: [100_000], scanned: [0, 0] },
  "candidates in a search of the table": {
    reached: 100_000,
    each: -1,
    candidates: [100_000],
    scanned: [0, 0],
  },
  "rows in order": { reached: 100_000, each: 0, candidates: [-1], scanned: [0, 1_000_000] },
  "all candidates at last": { reached: 0, each: 100_000, candidates: [-1], scanned: [0, 40] },
  "checks of rows": { reached: 0, each: 0, candidates: [-1], scanned: [1_000_000, 1_000_000] },
};

export interface ListOptions extends Omit<AskedList, "order"> {
  readonly order: string;
  readonly bounds?: ListBounds;
}

/** The SQL of a list as the command prints it, and its warnings. */
export async function printed(
  { url }: Pick<InterfaceScene, "url">,
  { order, bounds, ...asked }: ListOptions,
): ReturnType<typeof printList> {
  const columns = must(orderOf(order), "the order has columns");
  return await readingDatabase(
    url,
    async (reading) => await printList(reading, "pemba", { ...asked, order: columns }, bounds),
  );
}

/** Makes a list. */
export async function makeList(
  scene: Pick<InterfaceScene, "url" | "owner">,
  options: ListOptions,
): Promise<void> {
  const { text } = await printed(scene, options);
  const session = await scene.owner.reserve();
  try {
    await session.unsafe(text);
  } finally {
    session.release();
  }
}
