import type { Telemetry } from "../../../base/telemetry.ts";
import type { Row } from "./row.ts";
import { statementName } from "./statement-file.ts";

/** Runs a statement, and tells its name, how long it took and how many rows came: never its values. */
export async function tellStatement(
  telemetry: Telemetry,
  text: string,
  run: () => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { tally } = telemetry;
  const name = statementName(text) ?? tally?.question ?? "other";
  if (tally !== undefined) tally.statements += 1;
  const start = performance.now();
  try {
    return await telemetry.span(`statement ${name}`, async (span) => {
      span.set({ "db.system.name": "postgresql", "db.query.summary": name });
      const rows = await run();
      span.set({ "db.response.returned_rows": rows.length });
      return rows;
    });
  } finally {
    const seconds = (performance.now() - start) / 1_000;
    telemetry.record("db.client.operation.duration", seconds, { "db.query.summary": name });
  }
}
