import { promisify } from "node:util";
import { gzip } from "node:zlib";

import {
  Function as Routine,
  Line,
  Location,
  Profile,
  Sample,
  StringTable,
  ValueType,
} from "pprof-format";

const compress = promisify(gzip);

/** A function of the program, named by the engine. */
export interface StackFrame {
  readonly functionName: string;
  /** The URL of its file. */
  readonly url: string;
  /** Counted from 0. Negative for functions of the engine. */
  readonly lineNumber: number;
}

/** The samples of one stack. */
export interface StackSample {
  /** Innermost function first. */
  readonly stack: readonly StackFrame[];
  /** One value for each unit of the profile. */
  readonly values: readonly number[];
}

/** What a value counts, such as `cpu` in `nanoseconds`. */
export interface Unit {
  readonly type: string;
  readonly unit: string;
}

export interface Samples {
  readonly units: readonly Unit[];
  readonly samples: readonly StackSample[];
  /** The sampling period, in the last unit. */
  readonly period: number;
  /** Start in milliseconds since 1970, and duration in milliseconds. */
  readonly startedAt: number;
  readonly duration: number;
}

/** Encodes a profile for `go tool pprof` and similar tools: compressed protobuf. */
export async function pprofOf(taken: Samples): Promise<Buffer> {
  const stringTable = new StringTable();
  const places = new FrameIds(stringTable);
  const units = taken.units.map(
    ({ type, unit }) =>
      new ValueType({ type: stringTable.dedup(type), unit: stringTable.dedup(unit) }),
  );
  const sample = taken.samples.map(
    ({ stack, values }) =>
      new Sample({ locationId: stack.map((frame) => places.idOf(frame)), value: [...values] }),
  );
  const periodType = units.at(-1);
  const profile = new Profile({
    stringTable,
    sampleType: units,
    sample,
    location: places.locations,
    function: places.routines,
    timeNanos: BigInt(Math.round(taken.startedAt)) * 1_000_000n,
    durationNanos: BigInt(Math.round(taken.duration * 1_000_000)),
    period: taken.period,
    ...(periodType !== undefined && { periodType }),
  });
  return await compress(profile.encode());
}

/** Numbers functions. Each function is one location. */
class FrameIds {
  readonly locations: Location[] = [];
  readonly routines: Routine[] = [];
  readonly #strings: StringTable;
  readonly #ids = new Map<string, number>();

  constructor(strings: StringTable) {
    this.#strings = strings;
  }

  idOf({ functionName, url, lineNumber }: StackFrame): number {
    const key = `${functionName}\n${url}\n${lineNumber}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#ids.size + 1;
    this.#ids.set(key, id);
    const line = lineNumber + 1;
    const name = this.#strings.dedup(functionName === "" ? namelessAt(url, line) : functionName);
    this.routines.push(
      new Routine({
        id,
        name,
        systemName: name,
        filename: this.#strings.dedup(url),
        startLine: line,
      }),
    );
    this.locations.push(new Location({ id, line: [new Line({ functionId: id, line })] }));
    return id;
  }
}

/** A name for an anonymous function, because tables show names only. */
function namelessAt(url: string, line: number): string {
  return `(anonymous ${url.slice(url.lastIndexOf("/") + 1)}:${line})`;
}
