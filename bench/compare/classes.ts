import { must } from "../../src/base/assert.ts";
import type { Dataset, Question } from "../data/dataset.ts";
import { groupGraphs } from "../data/group-graphs.ts";
import { fullSizes, smallSizes, tinySizes } from "../data/nested-documents.ts";
import { type NestedLookup, nestedLookups } from "../data/nested-lookups.ts";
import { nestedDataset } from "../data/nested.ts";
import { socialDataset } from "../data/social.ts";
import { withMoreRelations } from "../data/variants.ts";
import { withHeavySubject } from "../workloads/heavy-subject.ts";

const sections = ["check", "lookup", "shapes"] as const;

export type ComparedSection = (typeof sections)[number];

/** Questions that cost about the same, of the tenant that has the data set. */
export interface Asked {
  readonly section: ComparedSection;
  readonly name: string;
  readonly dataset: string;
  readonly requests: readonly AskedRequest[];
}

/** `path` goes on behind the tenant. */
export interface AskedRequest {
  readonly path: string;
  readonly body: object;
  /** Which a right answer holds; "" where that is not known. */
  readonly right: string;
}

const questionsOfClass = 400;
const pageSize = 100;

/** The sections that the words name; all of them without any. Fails with the word that names none. */
export function parseSections(words: readonly string[]): readonly ComparedSection[] {
  const unknown = words.find((word) => !sections.some((section) => section === word));
  if (unknown !== undefined) throw new Error(`compare has no section ${unknown}`);
  return words.length === 0 ? sections : sections.filter((section) => words.includes(section));
}

/** The data that the sections ask, each once. */
export function datasetsOf(
  chosen: readonly ComparedSection[],
  isSmall: boolean,
): readonly Dataset[] {
  const nested = nestedDataset(isSmall ? smallSizes : fullSizes, questionsOfClass);
  const base = nestedDataset(tinySizes, questionsOfClass);
  const ofSection: Readonly<Record<ComparedSection, readonly Dataset[]>> = {
    check: [
      nested,
      socialDataset({ users: isSmall ? 4_000 : 100_000, questions: questionsOfClass }),
    ],
    lookup: [nested],
    shapes: [groupGraphs, withHeavySubject(base), withMoreRelations(base, "document")],
  };
  const all = chosen.flatMap((section) => ofSection[section]);
  return [...new Map(all.map((dataset) => [dataset.name, dataset])).values()];
}

/** All that is asked, in order. */
export function comparedClasses(
  chosen: readonly ComparedSection[],
  isSmall: boolean,
  datasets: readonly Dataset[],
): readonly Asked[] {
  const sizes = isSmall ? smallSizes : fullSizes;
  const nested = nestedDataset(sizes, questionsOfClass).name;
  const checks = (section: "check" | "shapes", names: readonly string[]): readonly Asked[] =>
    names.flatMap((name) => {
      const { classes } = must(
        datasets.find((dataset) => dataset.name === name),
        "it is loaded",
      );
      return classes.map((each) => ({
        section,
        name: `${name}: ${each.name}`,
        dataset: name,
        requests: each.questions.map(checkRequest),
      }));
    });
  const shaped = datasetsOf(["shapes"], isSmall).map(({ name }) => name);
  const checked = datasetsOf(["check"], isSmall).map(({ name }) => name);
  const ofSection: Readonly<Record<ComparedSection, () => readonly Asked[]>> = {
    check: () => checks("check", checked),
    lookup: () =>
      nestedLookups(sizes, questionsOfClass / 10).map(({ name, lookups }) => ({
        section: "lookup",
        name,
        dataset: nested,
        requests: lookups.map(lookupRequest),
      })),
    shapes: () => checks("shapes", shaped),
  };
  return chosen.flatMap((section) => ofSection[section]());
}

function checkRequest({ entity, permission, user, allowed }: Question): AskedRequest {
  const subject = { type: "user", id: user };
  return {
    path: "permissions/check",
    body: { metadata: {}, entity, permission, subject },
    right: allowed ? '"RESULT_ALLOWED"' : '"RESULT_DENIED"',
  };
}

function lookupRequest(lookup: NestedLookup): AskedRequest {
  const page = { metadata: {}, permission: "view", page_size: pageSize };
  if (lookup.kind === "entities") {
    const subject = { type: "user", id: lookup.user };
    const body = { ...page, entity_type: "document", subject };
    return { path: "permissions/lookup-entity", body, right: "" };
  }
  const entity = { type: "document", id: lookup.document };
  const body = { ...page, entity, subject_reference: { type: "user" } };
  return { path: "permissions/lookup-subject", body, right: "" };
}
