import { promisify } from "node:util";
import { gunzip } from "node:zlib";

import { Profile } from "pprof-format";

import { must } from "../src/base/assert.ts";

/** Part of the processor time that a place took by itself, without what it called. */
export interface SelfTime {
  readonly place: string;
  readonly part: number;
}

const unpack = promisify(gunzip);

/** Has a `pemba serve` take a profile for so long: what was being worked on, most first. */
export async function profileOf(
  profiler: string,
  seconds: number,
): Promise<{ readonly packages: readonly SelfTime[]; readonly functions: readonly SelfTime[] }> {
  const response = await fetch(`${profiler}profile?seconds=${seconds}`);
  if (!response.ok) throw new Error(await response.text());
  const profile = Profile.decode(await unpack(await response.arrayBuffer()));
  const text = (index: number | bigint): string =>
    must(profile.stringTable.strings[Number(index)], "every text is in the table");
  const routines = new Map(profile.function.map((routine) => [routine.id, routine]));
  const locations = new Map(profile.location.map((location) => [location.id, location]));
  const packages = new Map<string, number>();
  const functions = new Map<string, number>();
  for (const { locationId, value } of profile.sample) {
    const location = locations.get(must(locationId[0], "a stack has a leaf"));
    const routine = routines.get(must(location?.line[0], "a place is in a function").functionId);
    const name = text(must(routine, "every function is in the table").name);
    const file = fileOf(text(must(routine, "every function is in the table").filename));
    const time = Number(value.at(-1));
    add(packages, packageOf(file), time);
    add(functions, file === "" ? name : `${name} ${file}`, time);
  }
  return { packages: partsOf(packages), functions: partsOf(functions) };
}

function add(times: Map<string, number>, place: string, time: number): void {
  times.set(place, (times.get(place) ?? 0) + time);
}

function partsOf(times: ReadonlyMap<string, number>): readonly SelfTime[] {
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .map(([place, time]) => ({ place, part: time / total }))
    .toSorted((a, b) => b.part - a.part);
}

/** From the root of the project, or the name that the runtime gives a file of its own. */
function fileOf(url: string): string {
  return url.replace(/^file:\/\/.*?\/(?=(src|node_modules|bench)\/)/, "");
}

/** A package, a folder of ours, or a module of the runtime; what has no file is the engine's. */
function packageOf(file: string): string {
  if (file === "") return "(engine)";
  const [, installed] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  if (installed !== undefined) return installed;
  const [, folder] = /^(src\/[^/]+(?:\/(?:memory|postgres|routes|shapes))?)\//.exec(file) ?? [];
  return folder ?? file;
}
