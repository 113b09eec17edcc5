import type { DistributedResult } from "./distributed.ts";
import { failedChecks } from "./killed.ts";
import { type PageSection, table, verdict } from "./page-table.ts";
import { figure } from "./report.ts";

/** Of the page of figures. */
export const distributedSection: PageSection = {
  name: "distributed",
  title: "Instances that share answers",
  about:
    "Three processes, with `distributed.enabled` against without: checks of one state, drawn with a skew from more questions than one process keeps answers of. Then one of the three that share is killed under load; wanted is no failed check.",
  tables: (json) => {
    const { distributed }: { readonly distributed: DistributedResult } = JSON.parse(json);
    const { compared, killed } = distributed;
    return [
      table(
        [
          "questions",
          "over",
          "callers",
          "instances",
          "per s",
          "p50 ms",
          "p99 ms",
          "found %",
          "sent on %",
          "statements",
          "processor us",
          "ratio",
        ],
        compared.flatMap(({ questions, transport, callers, alone, shared, ratio }) =>
          ([alone, shared] as const).map((side) => [
            questions,
            transport === "rest" ? "REST" : "gRPC",
            String(callers),
            side === shared ? "sharing" : "alone",
            ...[side.perSecond, side.p50, side.p99, side.hitRate * 100].map(figure),
            ...[side.sent * 100, side.statements, side.processorMicroseconds].map(figure),
            side === shared ? figure(ratio) : "",
          ]),
        ),
      ),
      "One killed:",
      table(
        ["over", "callers", "before per s", "after per s", "p99 ms after", "failed", "wanted"],
        killed.map((result) => [
          result.transport === "rest" ? "REST" : "gRPC",
          String(result.callers),
          ...[result.before.perSecond, result.after.perSecond, result.after.p99].map(figure),
          String(failedChecks(result)),
          verdict(failedChecks(result) === 0),
        ]),
      ),
    ];
  },
};
