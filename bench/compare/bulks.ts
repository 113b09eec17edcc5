import type { Question, QuestionClass } from "../../test/data/dataset.ts";
import { spread } from "../../test/data/dataset.ts";
import { documentId, type NestedSizes, userId } from "../../test/data/nested-documents.ts";
import { userOfAll } from "../../test/data/nested-lookups.ts";
import { nestedClasses } from "../../test/data/nested-questions.ts";
import type { Asked, AskedRequest } from "./asked.ts";

type Bulk = Omit<Asked, "dataset">;

/** As many requests of each class, asked in turn. */
const requests = 40;
const itemsMax = 100;
/** Some of them are too few for a common search. */
const smallerSizes = [50, 20, 16, 10, 5];

/** Bulk checks of the nested documents: what their items have in common, and how many they are. */
export function bulkClasses(sizes: NestedSizes): readonly Bulk[] {
  const classes = nestedClasses(sizes, requests);
  const asked = (name: string): readonly Question[] =>
    classes.find((each) => each.name === name)?.questions ?? [];
  const others = (nth: number): readonly string[] =>
    spread(sizes.documents, requests * itemsMax)
      .slice(nth * itemsMax, (nth + 1) * itemsMax)
      .map(documentId);
  const ofUser = (name: string, users: readonly Question[], size: number): Bulk =>
    bulk(
      `bulk of ${size}, ${name}`,
      users.map((question, nth) => [
        question,
        ...others(nth)
          .slice(1, size)
          .map((id) => ({ ...question, entity: { ...question.entity, id } })),
      ]),
    );
  const allowed = asked("nested allowed");
  const ofDocument = (size: number): Bulk =>
    bulk(
      `bulk of ${size}, one document`,
      allowed.map((question, nth) => [
        question,
        ...spread(sizes.users, size - 1).map((at) => ({
          ...question,
          user: userId((at + nth) % sizes.users),
        })),
      ]),
    );
  const all = allowed.map((question) => ({ ...question, user: userOfAll(sizes) }));
  return [
    ofUser("one user", allowed, itemsMax),
    ofUser("one user of few documents", asked("nested denied"), itemsMax),
    ofUser("one user of all documents", all, itemsMax),
    ofUser("one user in many groups", asked("big subject denied"), itemsMax),
    ...smallerSizes.map((size) => ofUser("one user", allowed, size)),
    ...[itemsMax, ...smallerSizes].map((size) => ofDocument(size)),
    bulk("bulk of 100, of everything", [mixed(classes)]),
  ];
}

function mixed(classes: readonly QuestionClass[]): readonly Question[] {
  const questions = classes.flatMap((each) => each.questions.slice(0, itemsMax / 5));
  return questions.slice(0, itemsMax);
}

/** The first item of each has a known answer. */
function bulk(name: string, bulks: readonly (readonly Question[])[]): Bulk {
  const request = (nth: number): AskedRequest => {
    const items = bulks[nth % bulks.length] ?? [];
    const allowed = items[0]?.allowed === true;
    return {
      path: "permissions/bulk-check",
      body: {
        metadata: {},
        items: items.map(({ entity, permission, user }) => ({
          entity,
          permission,
          subject: { type: "user", id: user },
        })),
      },
      right: allowed ? '"RESULT_ALLOWED"' : '"RESULT_DENIED"',
    };
  };
  return { section: "check", name: `nested: ${name}`, inFlight: 1, over: "rest", request };
}
