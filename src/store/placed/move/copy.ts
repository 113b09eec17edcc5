import { PembaError } from "../../../base/error.ts";
import { pause } from "../../../base/pause.ts";
import { parseSnapshot, shownSince } from "../../postgres/token/snapshot.ts";
import { blocksMin, nextBlocks, restMs } from "./pace.ts";
import { type CopyProgress, isCopied, parseProgress, startOf, stillTrue } from "./progress.ts";
import { RowTally } from "./row-tally.ts";
import type { ChangePlace, MoveSource } from "./source.ts";
import type { Arrival, MoveTarget } from "./target.ts";

/** While pages are copied, the log is followed so often, so that garbage collection does not overtake the copy. */
const followEveryMs = 10_000;

/** What a copy tells of itself. */
export interface CopyStatus {
  readonly rows: number;
  /** From 0 to 1. */
  readonly part: number;
}

export interface CopyParts {
  readonly source: MoveSource;
  readonly target: MoveTarget;
  /** The tenant at the source. */
  readonly number: string;
  readonly arrival: Arrival;
  /** Rows per second at most. Infinity: as fast as it goes. */
  readonly rate: number;
  readonly signal: AbortSignal;
  readonly onCopied: (status: CopyStatus) => void;
}

/**
 * Brings the rows of a tenant to the target while they are written. Pages are read as they are at that
 * moment, so no snapshot is held for longer than a page. What changes meanwhile is in the log: of each
 * key that it names, the row is brought as it is by then. So it does not matter what of a change a page had seen.
 */
export class Copy {
  readonly #parts: CopyParts;
  #progress: CopyProgress;
  /** Of the next page. */
  #blocks = blocksMin;
  #rows = 0;
  /** What the source has, from the moment on when it was counted. */
  #counted: { readonly tally: RowTally; readonly timelines: string } | undefined;

  private constructor(parts: CopyParts, progress: CopyProgress) {
    this.#parts = parts;
    this.#progress = progress;
  }

  /** Goes on from what was noted. */
  static async open(parts: CopyParts): Promise<Copy> {
    const { source, arrival } = parts;
    const state = await source.state();
    const noted = arrival.progress === undefined ? undefined : parseProgress(arrival.progress);
    return new Copy(parts, noted === undefined ? startOf(state) : stillTrue(noted, state));
  }

  /** Copies all pages, one after the other, notes each, and rests after it. */
  async copyPages(): Promise<void> {
    const { rate, signal } = this.#parts;
    let followedAt = Number.NEGATIVE_INFINITY;
    for (;;) {
      if (performance.now() - followedAt >= followEveryMs || isCopied(this.#progress)) {
        await this.follow();
        followedAt = performance.now();
      }
      if (isCopied(this.#progress)) return;
      signal.throwIfAborted();
      const begun = performance.now();
      const rows = await this.#copyPage();
      await this.#note();
      this.#tell(rows);
      const tookMs = performance.now() - begun;
      this.#blocks = nextBlocks(this.#blocks, tookMs);
      await pause(restMs({ rows, tookMs }, rate), signal);
    }
  }

  /** Counts what both sides have. From now on the counts follow the changes. */
  async count(): Promise<void> {
    const { source, target, number, arrival } = this.#parts;
    const timelines = await this.#timelines();
    // One after the other: each walks over tables, and takes a processor for that.
    await target.count(arrival.number);
    const { snapshot, tally } = await source.countRows(number);
    await this.#followTo(snapshot);
    const counted = new RowTally();
    counted.add(tally);
    this.#counted = { tally: counted, timelines };
  }

  /** Brings what has changed since the last time. Resolves to the number of changes. */
  async follow(): Promise<number> {
    const state = await this.#parts.source.state();
    const changes = await this.#followTo(state.snapshot);
    this.#progress = stillTrue(this.#progress, state);
    await this.#copyTexts();
    return changes;
  }

  /**
   * The labels of which the sides differ after the last changes were followed, or what else differs. Fails with
   * UNAVAILABLE if what was counted may be lost.
   */
  async differences(): Promise<readonly string[]> {
    const { source, target, number, arrival } = this.#parts;
    const [here, there, timelines] = await Promise.all([
      source.textsDigest(number),
      target.textsDigest(arrival.number),
      this.#timelines(),
    ]);
    if (this.#counted !== undefined && this.#counted.timelines !== timelines) throw isPromoted();
    const texts = here === there ? [] : ["schemas and bundles"];
    const labels = this.#counted?.tally.differencesFrom(target.tally) ?? ["rows were not counted"];
    return [...labels, ...texts];
  }

  async #timelines(): Promise<string> {
    const { source, target } = this.#parts;
    const timelines = await Promise.all([source.timeline(), target.timeline()]);
    return timelines.join(" ");
  }

  async #copyPage(): Promise<number> {
    const { source, target, number, arrival } = this.#parts;
    const { tupleBlock, tupleBlocks, attributeBlock } = this.#progress;
    if (tupleBlock < tupleBlocks) {
      const { rows, text } = await source.tuples(number, { from: tupleBlock, count: this.#blocks });
      if (rows > 0) await target.insert(arrival.number, { tuples: text });
      this.#progress = { ...this.#progress, tupleBlock: tupleBlock + this.#blocks };
      return rows;
    }
    const blocks = { from: attributeBlock, count: this.#blocks };
    let copied = 0;
    for (let place: string | undefined; ;) {
      const { rows, text, last } = await source.attributes(number, blocks, place);
      if (last === undefined) break;
      await target.insert(arrival.number, { attributes: text });
      copied += rows;
      place = last;
    }
    this.#progress = { ...this.#progress, attributeBlock: attributeBlock + this.#blocks };
    return copied;
  }

  /** Versions never change, and a new one comes after all others. Bundles are few, and are not in the log. */
  async #copyTexts(): Promise<void> {
    const { source, target, number, arrival } = this.#parts;
    for (;;) {
      const { text, last } = await source.schemas(number, this.#progress.version);
      if (last === undefined) break;
      await target.insertSchemas(arrival.number, text);
      this.#progress = { ...this.#progress, version: last };
    }
    for (let after = ""; ;) {
      const { text, last } = await source.bundles(number, after);
      await target.putBundles(arrival.number, text, after, last);
      if (last === undefined) break;
      after = last;
    }
  }

  /** Brings all that a snapshot shows and the one that was followed last does not. */
  async #followTo(goal: string): Promise<number> {
    const { source, target, number, arrival, signal } = this.#parts;
    const { shown } = this.#progress;
    const ranges = shownSince(parseSnapshot(shown), parseSnapshot(goal));
    const [oldest = ""] = shown.split(":");
    let changes = 0;
    for (let place: ChangePlace = { xid: "0", ordinal: -1 }; ranges.length > 0;) {
      signal.throwIfAborted();
      const page = await source.changes(number, ranges, place, oldest);
      if (page.last === undefined) break;
      await target.follow(arrival.number, page);
      this.#counted?.tally.add(page.tally);
      place = page.last;
      changes += page.changes;
    }
    this.#progress = { ...this.#progress, shown: goal };
    await this.#note();
    return changes;
  }

  async #note(): Promise<void> {
    const { target, arrival } = this.#parts;
    await target.note(arrival.number, JSON.stringify(this.#progress));
  }

  #tell(rows: number): void {
    this.#rows += rows;
    const { tupleBlock, tupleBlocks, attributeBlock, attributeBlocks } = this.#progress;
    const all = tupleBlocks + attributeBlocks;
    const part = all === 0 ? 1 : Math.min(1, (tupleBlock + attributeBlock) / all);
    this.#parts.onCopied({ rows: this.#rows, part });
  }
}

function isPromoted(): PembaError {
  return new PembaError(
    "UNAVAILABLE",
    "a standby was promoted since the rows were counted, and may lack some of them: run the command again",
  );
}
