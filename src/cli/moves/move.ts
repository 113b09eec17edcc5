import { PembaError } from "../../base/error.ts";
import type { FlagKind } from "../../config/flags.ts";
import { integer } from "../../config/kind.ts";
import { parseTenantId } from "../../service/field.ts";
import { complain, warn } from "../output.ts";
import { listenForStop } from "../process-events.ts";
import { readSettings } from "../settings.ts";
import { clusterOf, clustersOf, onClusters } from "./clusters.ts";
import { type MoveContext, revertMove, runMove } from "./run-move.ts";

export const rateFlag: ReadonlyMap<string, FlagKind> = new Map([["rate", {}]]);

export const moveFlags: ReadonlyMap<string, FlagKind> = new Map<string, FlagKind>([
  ["to", {}],
  ["revert", { bare: "true" }],
  ...rateFlag,
]);

const rateKind = integer({ from: 1, to: 100_000_000 });

/** Runs `pemba tenant move`. */
export async function move(args: readonly string[]): Promise<number> {
  const settings = readSettings(args, problemsOf, moveFlags);
  if (settings.kind === "problems") return complain(...settings.problems);
  const { config, values, positionals, warnings } = settings;
  warnings.forEach(warn);
  const [word = ""] = positionals;
  const tenant = parseTenantId(word, "tenant");
  const to = values.get("to");
  return await moving({ config, values }, async (context) => {
    if (to === undefined) await revertMove(context, tenant);
    else {
      clusterOf(context.clusters, to, "--to");
      await runMove(context, tenant, to);
    }
    return 0;
  });
}

/** Does work that moves tenants, until a signal stops it. Resolves to the exit status. */
export async function moving(
  {
    config,
    values,
  }: { readonly config: MoveContext["config"]; readonly values: ReadonlyMap<string, string> },
  work: (context: MoveContext) => Promise<number>,
): Promise<number> {
  const clusters = clustersOf(config);
  const stop = listenForStop();
  const { signal } = stop;
  // A pause keeps no process alive, nor do connections while they are lost.
  const alive = setInterval(() => {}, 60_000);
  try {
    const rate = rateOf(values);
    return await onClusters(
      clusters,
      async (connections) => await work({ config, clusters, connections, rate, signal }),
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    return complain("stopped: run the command again to go on, or take a move back with --revert");
  } finally {
    clearInterval(alive);
    stop.close();
  }
}

function problemsOf(
  words: readonly string[],
  values: ReadonlyMap<string, string>,
): readonly string[] {
  const problems: string[] = [];
  if (words.length !== 1) problems.push("tenant move: expected one tenant ID");
  if (values.has("to") === values.has("revert")) {
    problems.push("tenant move: expected either --to CLUSTER or --revert");
  }
  return [...problems, ...rateProblems(values)];
}

/** What is wrong with `--rate`. */
export function rateProblems(values: ReadonlyMap<string, string>): readonly string[] {
  const text = values.get("rate");
  if (text === undefined || rateKind.read(text) !== undefined) return [];
  return [`--rate: expected ${rateKind.expected}`];
}

function rateOf(values: ReadonlyMap<string, string>): number {
  const text = values.get("rate");
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const rate = rateKind.read(text);
  if (rate === undefined)
    throw new PembaError("INVALID_ARGUMENT", `--rate: expected ${rateKind.expected}`);
  return rate;
}
