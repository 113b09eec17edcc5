import { figure, formatTable } from "../report.ts";
import type { ComparedInstances } from "./compared.ts";

export function comparedTable(results: readonly ComparedInstances[]): string {
  const headings = ["questions", "population", "kept", "over", "callers", "instances"];
  const figures = ["checks/s", "p50 ms", "p99", "hits %", "sent %", "not answered %"];
  return formatTable(
    [...headings, ...figures, "stmts", "processor us", "ratio"],
    results.flatMap(({ questions, population, kept, transport, callers, alone, shared, ratio }) =>
      ([alone, shared] as const).map((side) => [
        questions,
        ...[population, kept].map(String),
        transport,
        String(callers),
        side === shared ? "shared" : "alone",
        ...[side.perSecond, side.p50, side.p99, side.hitRate * 100].map(figure),
        ...[side.sent * 100, side.unanswered * 100, side.statements].map(figure),
        figure(side.processorMicroseconds),
        side === shared ? figure(ratio) : "",
      ]),
    ),
  );
}
