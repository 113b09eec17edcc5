import { intakeOf } from "../../src/cli/open-admission.ts";
import { loadConfig } from "../../src/config/load.ts";
import { Intake, type IntakeLimits, type MakeShares } from "../../src/intake/intake.ts";

/** What is taken in when nothing is configured but what a test names. */
export function usualIntake({
  maxDataPerWrite = 1_000,
  makeShares,
  ...limits
}: Partial<IntakeLimits> & {
  readonly maxDataPerWrite?: number;
  readonly makeShares?: MakeShares;
} = {}): Intake {
  const flags = new Map([["database-max-data-per-write", String(maxDataPerWrite)]]);
  const loaded = loadConfig({ flags, env: {} });
  if (loaded.kind === "problems") throw new Error(loaded.problems.join());
  return new Intake({ ...intakeOf(loaded.config).limits, ...limits }, makeShares);
}
