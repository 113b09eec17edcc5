import type { CheckResult } from "./check.ts";
import { distributedSection } from "./distributed-section.ts";
import type { LayersResult } from "./layers.ts";
import type { LookupBenchResult } from "./lookup.ts";
import { type OverheadResult, overheadTarget } from "./overhead.ts";
import { type PageSection, table, verdict } from "./page-table.ts";
import { latencyTargets, type RateResult } from "./rate.ts";
import { figure } from "./report.ts";
import type { ShapeResult } from "./shapes.ts";
import type { SoakResult } from "./soak.ts";
import { wayTitles } from "./ways/way.ts";
import type { WorkloadsResult } from "./workloads.ts";
import type { WriteResult } from "./write.ts";

const wantedLatency = `p50 <= ${latencyTargets.p50} ms, p99 <= ${latencyTargets.p99} ms`;

/** In the order of the page. */
export const pageSections: readonly PageSection[] = [
  {
    name: "check",
    title: "Checks",
    about:
      "Through the store, against a walk from the application with one query for each hop, on the same database. The ratio is of the throughputs.",
    tables: (json) => {
      const { checks }: { readonly checks: readonly CheckResult[] } = JSON.parse(json);
      return [
        table(
          ["data", "questions", "callers", "p50 ms", "p99 ms", "per s", "walk per s", "ratio"],
          checks.map(({ dataset, questions, connections, pemba, walk, ratio }) => [
            dataset,
            questions,
            String(connections),
            ...[pemba.p50, pemba.p99, pemba.perSecond, walk.perSecond, ratio].map(figure),
          ]),
        ),
      ];
    },
  },
  {
    name: "rate",
    title: "Latency at a rate of arrivals",
    about: `Checks of 2.6 million tuples on one process, which arrive at a part of its capacity whatever becomes of those before; latencies count from the time at which they were due. Wanted: ${wantedLatency}.`,
    tables: (json) => {
      const { rate }: { readonly rate: readonly RateResult[] } = JSON.parse(json);
      return [
        table(
          ["questions", "over", "capacity per s", "part", "p50 ms", "p95 ms", "p99 ms", "wanted"],
          rate.flatMap(({ questions, transport, capacity, points }) =>
            points.map(({ part, p50, p95, p99 }) => [
              questions,
              wayTitles[transport],
              figure(capacity),
              `${Math.round(part * 100)} %`,
              ...[p50, p95, p99].map(figure),
              verdict(p50 <= latencyTargets.p50 && p99 <= latencyTargets.p99),
            ]),
          ),
        ),
      ];
    },
  },
  {
    name: "overhead",
    title: "What REST costs",
    about: `Direct checks from memory against a bare route of the same framework that holds the same bodies against the same shape. Wanted: at least ${overheadTarget * 100} % of its throughput.`,
    tables: (json) => {
      const { overhead }: { readonly overhead: OverheadResult } = JSON.parse(json);
      const { pemba, bare, ratio, processorRatio, ratios, packages } = overhead;
      return [
        table(
          ["", "per s", "p50 ms", "p99 ms", "processor time of one, us"],
          [
            [
              "Pemba",
              ...[pemba.perSecond, pemba.p50, pemba.p99, pemba.processorMicroseconds].map(figure),
            ],
            [
              "bare route",
              ...[bare.perSecond, bare.p50, bare.p99, bare.processorMicroseconds].map(figure),
            ],
            ["ratio", figure(ratio), "", "", figure(processorRatio)],
          ],
        ),
        `Over ${ratios.length} pairs of processes; the ratio of each: ${ratios.map(figure).join(", ")}.`,
        "Where the processor time of Pemba goes, by itself:",
        table(
          ["in", "%"],
          packages.slice(0, 12).map(({ place, part }) => [place, figure(part * 100)]),
        ),
      ];
    },
  },
  layersSection(
    "batching",
    "Checks asked together",
    "Single checks of the present state that wait at the same moment go as one statement, against each for itself: asked of the engine, and of a process over REST and gRPC.",
  ),
  layersSection(
    "cache",
    "Answers that are kept",
    "Checks that name a state and come again, with their answers kept against without.",
  ),
  distributedSection,
  {
    name: "lookup",
    title: "Lookups",
    about:
      "Pages of 100, against candidates that are found from the application and checked one by one. The ratio is of the medians.",
    tables: (json) => {
      const { pages, wholes }: LookupBenchResult = JSON.parse(json);
      return [
        table(
          ["lookup", "page", "ids", "p50 ms", "candidates p50 ms", "ratio", "statements"],
          pages.map(({ lookups, page, found, pemba, candidates, ratio, statements }) => [
            lookups,
            ...[page, found].map(String),
            ...[pemba.p50, candidates.p50, ratio].map(figure),
            String(statements),
          ]),
        ),
        table(
          ["whole lookup", "ids", "first page ms", "all ms"],
          wholes.map(({ lookups, found, firstPage, whole }) => [
            lookups,
            found.toLocaleString("en"),
            ...[firstPage, whole].map(figure),
          ]),
        ),
      ];
    },
  },
  {
    name: "shapes",
    title: "What must not matter",
    about: "The same questions where one thing is different; ratios of the lower quartiles.",
    tables: (json) => {
      const { shapes }: { readonly shapes: readonly ShapeResult[] } = JSON.parse(json);
      return [
        table(
          ["what is different", "questions", "without, ms", "with, ms", "ratio", "wanted"],
          shapes.map(({ shape, questions, base, shaped, ratio, target }) => [
            shape,
            questions,
            ...[base.p25, shaped.p25, ratio].map(figure),
            `<= ${target}: ${verdict(ratio <= target)}`,
          ]),
        ),
      ];
    },
  },
  {
    name: "workloads",
    title: "Workloads of public benchmarks",
    about:
      "One question after the other on Postgres, by the engine alone and by one process over REST and gRPC: walks that are very wide or deep, single steps of an expression, ways that meet again and again, whole lookups, pages of changes, and whole applications, some with as many tuples as published. The ratios are of the medians.",
    tables: (json) => {
      const { workloads, sizes }: WorkloadsResult = JSON.parse(json);
      return [
        table(
          [
            "data",
            "questions",
            "times",
            "engine p50 ms",
            "p99",
            "REST p50",
            "p99",
            "gRPC p50",
            "p99",
            "REST to engine",
            "gRPC to engine",
          ],
          workloads.map(({ dataset, questions, times, engine, rest, grpc }) => [
            dataset,
            questions,
            String(times),
            ...[engine, rest, grpc].flatMap(({ p50, p99 }) => [figure(p50), figure(p99)]),
            ...[rest, grpc].map(({ p50 }) => figure(p50 / engine.p50)),
          ]),
        ),
        table(
          ["data", "tuples", "published"],
          sizes.map(({ dataset, tuples, published }) => [
            dataset,
            ...[tuples, published].map((count) => count.toLocaleString("en")),
          ]),
        ),
      ];
    },
  },
  {
    name: "write",
    title: "Writes",
    about:
      "New tuples, against a plain insert of the same rows. The ratio is of the throughputs; wanted is 0.5.",
    tables: (json) => {
      const { writes }: { readonly writes: readonly WriteResult[] } = JSON.parse(json);
      return [
        table(
          ["tuples in one", "writers", "p50 ms", "p99 ms", "per s", "plain per s", "ratio"],
          writes.map(({ batch, writers, pemba, plain, ratio }) => [
            ...[batch, writers].map(String),
            ...[pemba.p50, pemba.p99, pemba.perSecond, plain.perSecond, ratio].map(figure),
          ]),
        ),
      ];
    },
  },
  {
    name: "soak",
    title: "A long run",
    about:
      "Checks, lookups, writes, deletes and streams of changes at once, at 70 % of the capacity.",
    tables: (json) => {
      const { soak }: { readonly soak: SoakResult } = JSON.parse(json);
      const { minutes, requests, errors, changes, untold, megabytesPerHour } = soak;
      const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
      return [
        table(
          [
            "minutes",
            "requests per s",
            "p50 ms",
            "p99 ms",
            "errors",
            "changes",
            "untold",
            "MB an hour",
          ],
          [
            [
              String(minutes),
              ...[requests.perSecond, requests.p50, requests.p99].map(figure),
              ...[failed, changes, untold].map((count) => count.toLocaleString("en")),
              figure(megabytesPerHour),
            ],
          ],
        ),
      ];
    },
  },
];

function layersSection(name: "batching" | "cache", title: string, about: string): PageSection {
  return {
    name,
    title,
    about,
    tables: (json) => {
      const read: Readonly<Record<typeof name, readonly LayersResult[]>> = JSON.parse(json);
      return [
        table(
          ["asked", "questions", "callers", "without per s", "with per s", "ratio", "with p99 ms"],
          read[name].map(({ way, questions, callers, without, with: with_, ratio }) => [
            wayTitles[way],
            questions,
            String(callers),
            ...[without.perSecond, with_.perSecond, ratio, with_.p99].map(figure),
          ]),
        ),
      ];
    },
  };
}
