import { intakeOf } from "../../src/cli/open-admission.ts";
import { loadConfig } from "../../src/config/load.ts";
import { Intake, type IntakeLimits } from "../../src/intake/intake.ts";

/** What is taken in when nothing is configured but what a test names. */
export function usualIntake({
  maxDataPerWrite = 1_000,
  ...limits
}: Partial<IntakeLimits> & { readonly maxDataPerWrite?: number } = {}): Intake {
  const flags = new Map([["database-max-data-per-write", String(maxDataPerWrite)]]);
  const loaded = loadConfig({ flags, env: {} });
  if (loaded.kind === "problems") throw new Error(loaded.problems.join());
  return new Intake({ ...intakeOf(loaded.config).limits, ...limits });
}
