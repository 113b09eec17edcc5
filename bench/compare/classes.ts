import { must } from "../../src/base/assert.ts";
import { maxPageSize } from "../../src/service/field.ts";
import type { Dataset, Lookup, Question, QuestionClass } from "../../test/data/dataset.ts";
import { groupGraphs } from "../../test/data/group-graphs.ts";
import { withHeavySubject } from "../../test/data/heavy-subject.ts";
import {
  documentId,
  fullSizes,
  type NestedSizes,
  ownerOfDocument,
  smallSizes,
  tinySizes,
  userId,
} from "../../test/data/nested-documents.ts";
import { nestedLookups, userOfDepartment } from "../../test/data/nested-lookups.ts";
import { nestedDataset } from "../../test/data/nested.ts";
import { socialDataset } from "../../test/data/social.ts";
import { withMoreRelations } from "../../test/data/variants.ts";
import { lookupOf } from "../clients/rest.ts";
import { type Asked, type AskedRequest, type ComparedSection, sections } from "./asked.ts";
import { bulkClasses } from "./bulks.ts";
import { writeClasses, writtenBundle, writtenData } from "./writes.ts";

/** Classes that ask the same databases. */
export interface ComparedGroup {
  /** Names the databases, too. */
  readonly name: "read" | "write";
  readonly datasets: readonly Dataset[];
  readonly classes: readonly Asked[];
  /** Sent once to each tenant, when it has a schema. */
  readonly setUp: readonly AskedRequest[];
}

const questionsOfClass = 400;
const pageSize = 100;

/** The sections that the words name; all of them without any. Fails with the word that names none. */
export function parseSections(words: readonly string[]): readonly ComparedSection[] {
  const unknown = words.find((word) => !sections.some((section) => section === word));
  if (unknown !== undefined) throw new Error(`compare has no section ${unknown}`);
  return words.length === 0 ? sections : sections.filter((section) => words.includes(section));
}

/**
 * What is asked, in order. Writes have databases of their own, so what they leave behind costs no
 * question anything.
 *
 * @param only a part of the names of the classes
 */
export function comparedGroups(
  chosen: readonly ComparedSection[],
  { isSmall, only }: { readonly isSmall: boolean; readonly only: string },
): readonly ComparedGroup[] {
  const reading = chosen.filter((section) => section !== "write");
  const datasets = datasetsOf(reading, isSmall);
  const read = comparedClasses(reading, isSmall, datasets);
  const write = chosen.includes("write") ? writeClasses : [];
  const groups: readonly ComparedGroup[] = [
    { name: "read", datasets, classes: read, setUp: [] },
    { name: "write", datasets: [writtenData], classes: write, setUp: [writtenBundle] },
  ];
  return groups
    .map((group) => ({
      ...group,
      classes: group.classes.filter(({ name }) => name.includes(only)),
    }))
    .filter(({ classes }) => classes.length > 0);
}

type ReadSection = Exclude<ComparedSection, "write">;

/** The data that the sections ask, each once. */
function datasetsOf(chosen: readonly ReadSection[], isSmall: boolean): readonly Dataset[] {
  const nested = nestedDataset(isSmall ? smallSizes : fullSizes, questionsOfClass);
  const flat = nestedDataset(flatSizes(isSmall), questionsOfClass);
  const base = nestedDataset(tinySizes, questionsOfClass);
  const ofSection: Readonly<Record<ReadSection, readonly Dataset[]>> = {
    check: [
      nested,
      socialDataset({ users: isSmall ? 4_000 : 100_000, questions: questionsOfClass }),
    ],
    flat: [flat],
    lookup: [nested],
    shapes: [groupGraphs, withHeavySubject(base), withMoreRelations(base, "document")],
  };
  const all = chosen.flatMap((section) => ofSection[section]);
  return [...new Map(all.map((dataset) => [dataset.name, dataset])).values()];
}

function comparedClasses(
  chosen: readonly ReadSection[],
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
        ...inTurn(each.questions.map(checkRequest)),
      }));
    });
  const shaped = datasetsOf(["shapes"], isSmall).map(({ name }) => name);
  const checked = datasetsOf(["check"], isSmall).map(({ name }) => name);
  const ofSection: Readonly<Record<ReadSection, () => readonly Asked[]>> = {
    check: () => [
      ...checks("check", checked),
      ...againAndOnce(
        must(datasets.find(({ name }) => name === nested)?.classes, "it is loaded"),
      ).map((each) => ({ ...each, dataset: nested })),
      ...bulkClasses(sizes).map((each) => ({ ...each, dataset: nested })),
    ],
    flat: () => flatClasses(flatSizes(isSmall)),
    lookup: () => [
      ...nestedLookups(sizes, questionsOfClass / 10).map(({ name, lookups }): Asked => ({
        section: "lookup",
        name,
        dataset: nested,
        ...inTurn(lookups.map((lookup) => lookupRequest(lookup, pageSize))),
      })),
      {
        section: "lookup",
        name: "whole department",
        dataset: nested,
        ...inTurn([
          lookupRequest(
            {
              kind: "entities",
              entityType: "document",
              permission: "view",
              user: userOfDepartment(sizes),
            },
            maxPageSize,
          ),
        ]),
      },
    ],
    shapes: () => checks("shapes", shaped),
  };
  return chosen.flatMap((section) => ofSection[section]());
}

/** How many questions come again and again, of several classes. */
const repeatedQuestions = 8;

/**
 * Questions of which none comes again, and the same few again and again, by one caller and by several. Those
 * that come once are asked first: else more of them would meet connections that have to plan them.
 */
function againAndOnce(classes: readonly QuestionClass[]): readonly Omit<Asked, "dataset">[] {
  const section = "check";
  const again = classes
    .flatMap(({ questions }) => questions.slice(0, 2))
    .slice(0, repeatedQuestions)
    .map(checkRequest);
  const { questions } = must(classes[0], "the data have classes");
  const once = (nth: number): AskedRequest => {
    const question = must(questions[nth % questions.length], "a class has questions");
    return checkRequest({ ...question, user: `once${nth}`, allowed: false });
  };
  return [
    { section, name: "nested: once", inFlight: 1, over: "rest", request: once },
    { section, name: "nested: again and again", ...inTurn(again) },
    { section, name: "nested: again and again, 8 callers", ...inTurn(again), inFlight: 8 },
  ];
}

/** Asks one question at a time, round and round. */
function inTurn(requests: readonly AskedRequest[]): Pick<Asked, "inFlight" | "over" | "request"> {
  const request = (nth: number): AskedRequest =>
    must(requests[nth % requests.length], "a class has some");
  return { inFlight: 1, over: "rest", request };
}

/** More documents than a process is asked for, so that no question comes again. */
function flatSizes(isSmall: boolean): NestedSizes {
  return isSmall ? { ...smallSizes, documents: 100_000 } : fullSizes;
}

/** Does the user own the document? One tuple decides. */
function flatClasses(sizes: NestedSizes): readonly Asked[] {
  const dataset = nestedDataset(sizes, questionsOfClass).name;
  const ask =
    (allowed: boolean) =>
    (nth: number): AskedRequest => {
      const document = Math.imul(nth, scattering) >>> 0;
      const at = document % sizes.documents;
      const owner = ownerOfDocument(sizes, at);
      return checkRequest({
        entity: { type: "document", id: documentId(at) },
        permission: "owner",
        user: userId(allowed ? owner : (owner + 1) % sizes.users),
        allowed,
      });
    };
  const kinds = [
    { allowed: true, inFlight: 1 },
    { allowed: true, inFlight: 8 },
    { allowed: true, inFlight: 64 },
    { allowed: false, inFlight: 8 },
  ];
  return kinds.flatMap(({ allowed, inFlight }) =>
    transports.map((over): Asked => ({
      section: "flat",
      name: `flat ${allowed ? "allowed" : "denied"}, ${inFlight}, ${over}`,
      dataset,
      inFlight,
      over,
      request: ask(allowed),
    })),
  );
}

const transports = ["rest", "grpc"] as const;

/** Neighbours in time are not neighbours in an index. */
const scattering = 0x9e37_79b1;

function checkRequest({ entity, permission, user, allowed }: Question): AskedRequest {
  const subject = { type: "user", id: user };
  return {
    path: "permissions/check",
    body: { metadata: {}, entity, permission, subject },
    right: allowed ? '"RESULT_ALLOWED"' : '"RESULT_DENIED"',
  };
}

function lookupRequest(lookup: Lookup, size: number): AskedRequest {
  const { path, body } = lookupOf(lookup);
  return { path, body: { metadata: {}, ...body, page_size: size }, right: "" };
}
