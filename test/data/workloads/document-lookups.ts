import type { Entity } from "../../../src/base/tuple.ts";
import { type Fact, fact } from "../dataset.ts";
import { entitiesOf, numbered, type Workload, type WorkloadLookups } from "../workload.ts";

const schema = `
entity user {}

entity group {
  relation member @user @group#member
}

entity folder {
  relation viewer @user @group#member
}

entity document {
  relation parent @folder
  relation viewer @user @group#member
  permission view = viewer or parent.viewer
}
`;

/** A hundred times a hundred. */
const documents = 10_000;

/** At each distance. */
const documentsEach = 5_000;

/** How many steps lead from the user to a document. */
const distances = ["one", "two", "three", "many"] as const;

/** Which documents a user may view: ten thousand at once or one of them, and from far away. */
export const documentLookups: Workload = {
  name: "document_lookups",
  schema,
  key: "",
  facts: function* () {
    for (const id of numbered("doc", documents)) yield fact(document(id), "viewer", user("maria"));
    for (let nth = 0; nth < documentsEach; nth++) yield* pathTo(nth);
    yield fact(group("many-1"), "member", user("many"));
  },
  classes: [],
  lookups: [
    ofMaria("1 of 10,000 documents", 1),
    ofMaria("all of 10,000 documents", documents),
    ...distances.map((distance) => ({
      name: `5,000 documents, ${distance} step${distance === "one" ? "" : "s"} away`,
      lookups: [entitiesOf(distance, "document", "view", numbered(distance, documentsEach))],
    })),
  ],
};

function ofMaria(name: string, limit: number): WorkloadLookups {
  const lookup = entitiesOf("maria", "document", "view", numbered("doc", documents));
  return { name, lookups: [{ ...lookup, limit, found: lookup.found.slice(0, limit) }] };
}

/** The groups of the many steps are a binary tree, and the user is in its root. */
function* pathTo(nth: number): Generator<Fact> {
  yield fact(document(`one-${nth}`), "viewer", user("one"));

  yield fact(document(`two-${nth}`), "viewer", group(`two-${nth}`), "member");
  yield fact(group(`two-${nth}`), "member", user("two"));

  yield fact(document(`three-${nth}`), "parent", { type: "folder", id: `${nth}` });
  yield fact({ type: "folder", id: `${nth}` }, "viewer", group(`three-${nth}`), "member");
  yield fact(group(`three-${nth}`), "member", user("three"));

  const at = nth + 1;
  yield fact(document(`many-${nth}`), "viewer", group(`many-${at}`), "member");
  if (at === 1) return;
  yield fact(group(`many-${at}`), "member", group(`many-${Math.floor(at / 2)}`), "member");
}

const user = (id: string): Entity => ({ type: "user", id });
const group = (id: string): Entity => ({ type: "group", id });
const document = (id: string): Entity => ({ type: "document", id });
