import type { Workload } from "./workload.ts";
import { approvals } from "./workloads/approvals.ts";
import { changeLog } from "./workloads/change-log.ts";
import { diamonds } from "./workloads/diamonds.ts";
import { documentLookups } from "./workloads/document-lookups.ts";
import { drive } from "./workloads/drive.ts";
import { expressions } from "./workloads/expressions.ts";
import { groupLookups } from "./workloads/group-lookups.ts";
import { kitchenSink } from "./workloads/kitchen-sink.ts";
import { repositoriesOfTeams } from "./workloads/repositories.ts";
import { socialMix } from "./workloads/social-mix.ts";
import { userLookups } from "./workloads/user-lookups.ts";
import { usersets } from "./workloads/usersets.ts";
import { wideWalks } from "./workloads/wide-walks.ts";

/** Data sets and questions with the parameters of public benchmarks. */
export function publicWorkloads(size: "small" | "usual" | "full"): readonly Workload[] {
  const isSmall = size === "small";
  return [
    wideWalks,
    groupLookups,
    usersets,
    documentLookups,
    userLookups,
    changeLog,
    diamonds,
    expressions,
    drive,
    repositoriesOfTeams,
    approvals,
    socialMix(isSmall ? 4_000 : 100_000),
    kitchenSink("k"),
    ...(isSmall ? [] : [kitchenSink("ten_k"), kitchenSink("hundred_k")]),
    ...(size === "full" ? [kitchenSink("million")] : []),
  ];
}

/** The same with only those questions whose name holds the text. */
export function withQuestionsOf(workload: Workload, text: string): Workload {
  const chosen = <T extends { readonly name: string }>(all: readonly T[] = []): readonly T[] =>
    all.filter(({ name }) => name.includes(text));
  const { classes, lookups, changes } = workload;
  return {
    ...workload,
    classes: chosen(classes),
    lookups: chosen(lookups),
    changes: chosen(changes),
  };
}

/** Whether anything is asked. */
export function hasQuestions({ classes, lookups = [], changes = [] }: Workload): boolean {
  return classes.length + lookups.length + changes.length > 0;
}
