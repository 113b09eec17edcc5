import { must } from "../../src/base/assert.ts";

/** A schema, a few facts, and what is asked of them with the only right answers. */
export interface Hostile {
  readonly name: string;
  readonly schema: string;
  /** Tuples as the interface takes them. */
  readonly tuples: readonly HostileTuple[];
  readonly questions: readonly HostileQuestion[];
}

export interface HostileTuple {
  readonly entity: { readonly type: string; readonly id: string };
  readonly relation: string;
  readonly subject: { readonly type: string; readonly id: string };
}

export interface HostileQuestion {
  readonly name: string;
  /** Behind the tenant. */
  readonly path: string;
  readonly body: object;
  /** Is this body of a 200 the right one? */
  readonly isRight: (answer: unknown) => boolean;
  readonly wanted: Wanted;
}

/** Most milliseconds until there is an answer or a refusal. */
export interface Wanted {
  readonly first: number;
  /** When the question comes again; the median. */
  readonly again?: number;
}

/** How a permission comes from the one before it and from that one of the document above. */
type Step = "or" | "and" | "not";

const chains: Readonly<Record<string, readonly Step[]>> = {
  or: ["or"],
  and: ["and"],
  mixed: ["or", "and", "not"],
};

const chainLengths = [60, 300, 3_000] as const;
const widths = [5_000, 10_000] as const;

const answeredMs = 2_000;
const wideAgainMs = 200;

/** The bottom one first; each lies in the next. */
const documents = ["one", "two", "three", "four", "five"] as const;
const bottom = documents[0];
const top = must(documents.at(-1), "there are some");

/** Which documents a user is a viewer of. */
const viewers: Readonly<Record<string, readonly string[]>> = {
  ann: documents,
  bob: [top],
  cid: [bottom],
};

/** All that is asked about, the cheapest first. */
export function hostileSchemas(): readonly Hostile[] {
  return [
    ...chainLengths.flatMap((length) =>
      Object.entries(chains).map(([name, steps]) => chain(name, steps, length)),
    ),
    ...widths.map(wide),
  ];
}

/** A chain in which no name is that of another version. */
export function chainVersion(nth: number): Hostile {
  const prefix = `permission_of_the_version_${letters(nth)}`;
  return chain("mixed", must(chains["mixed"], "it is there"), 19, prefix);
}

/** Names of permissions are `prefix` and letters, since they may hold no digits. */
function chain(kind: string, steps: readonly Step[], length: number, prefix = "p"): Hostile {
  const names = Array.from({ length: length + 1 }, (_, nth) =>
    nth === 0 ? "viewer" : `${prefix}_${letters(nth)}`,
  );
  const stepOf = (nth: number): Step => must(steps[nth % steps.length], "a remainder");
  const lines = names.slice(1).map((name, nth) => {
    const before = must(names[nth], "it is the one before");
    return `  permission ${name} = ${before} ${stepOf(nth)} up.${before}`;
  });
  const last = must(names.at(-1), "there are some");
  const holders = new Map(
    Object.keys(viewers).map((user) => [user, held(user, length, stepOf)] as const),
  );
  const has = (user: string, nth: number, document: string): boolean =>
    must(holders.get(user)?.[nth], "it was worked out").has(document);
  return {
    name: `${length.toLocaleString("en")} permissions, ${kind}`,
    schema: [
      "entity user {}",
      "entity doc {",
      "  relation up @doc",
      "  relation viewer @user",
      ...lines,
      "}",
    ].join("\n"),
    tuples: [
      ...documents.slice(1).map((above, nth) => {
        const below = must(documents[nth], "it is the one before");
        return tuple(below, "up", { type: "doc", id: above });
      }),
      ...Object.entries(viewers).flatMap(([user, seen]) =>
        seen.map((id) => tuple(id, "viewer", { type: "user", id: user })),
      ),
    ],
    questions: questionsOf(last, "bob", {
      check: has("bob", length, bottom),
      entities: documents.filter((id) => has("bob", length, id)),
      subjects: Object.keys(viewers).filter((user) => has(user, length, bottom)),
      permissions: new Map([
        ["up", false],
        ...names.map((name, nth) => [name, has("bob", nth, bottom)] as const),
      ]),
    }),
  };
}

/** The documents that the user has each permission of a chain on. */
function held(
  user: string,
  length: number,
  stepOf: (nth: number) => Step,
): readonly ReadonlySet<string>[] {
  const sets: Set<string>[] = [new Set(viewers[user])];
  for (let nth = 0; nth < length; nth++) {
    const before = must(sets[nth], "it is the one before");
    const next = documents.filter((id, place) => {
      const own = before.has(id);
      const above = before.has(documents[place + 1] ?? "");
      switch (stepOf(nth)) {
        case "or":
          return own || above;
        case "and":
          return own && above;
        case "not":
          return own && !above;
      }
    });
    sets.push(new Set(next));
  }
  return sets;
}

/** One permission that is any of so many relations, of which only the last has a tuple. */
function wide(width: number): Hostile {
  const relations = Array.from({ length: width }, (_, nth) => `r_${letters(nth)}`);
  const last = must(relations.at(-1), "there are some");
  return {
    name: `${width.toLocaleString("en")} relations in one`,
    schema: [
      "entity user {}",
      "entity doc {",
      ...relations.map((relation) => `  relation ${relation} @user`),
      `  permission view = ${relations.join(" or ")}`,
      "}",
    ].join("\n"),
    tuples: [tuple(bottom, last, { type: "user", id: "ann" })],
    questions: questionsOf(
      "view",
      "ann",
      {
        check: true,
        entities: [bottom],
        subjects: ["ann"],
        permissions: new Map([
          ...relations.map((relation) => [relation, relation === last] as const),
          ["view", true],
        ]),
      },
      width === widths[0] ? wideAgainMs : undefined,
    ),
  };
}

/** Right answers. */
interface Right {
  readonly check: boolean;
  readonly entities: readonly string[];
  readonly subjects: readonly string[];
  readonly permissions: ReadonlyMap<string, boolean>;
}

function questionsOf(
  permission: string,
  user: string,
  right: Right,
  again?: number,
): readonly HostileQuestion[] {
  const entity = { type: "doc", id: bottom };
  const subject = { type: "user", id: user };
  const asked = (
    path: string,
    body: object,
    isRight: (answer: unknown) => boolean,
  ): HostileQuestion => ({
    name: path,
    path: `permissions/${path}`,
    body: { metadata: {}, ...body },
    isRight,
    wanted: { first: answeredMs, ...(again !== undefined && { again }) },
  });
  return [
    asked("check", { entity, permission, subject }, (answer) =>
      isSame(partOf(answer, "can"), resultOf(right.check)),
    ),
    asked("explain", { entity, permission, subject }, (answer) =>
      isSame(partOf(answer, "can"), resultOf(right.check)),
    ),
    asked("explain", { entity, permission, subject: { type: "user", id: "stranger" } }, (answer) =>
      isSame(partOf(answer, "can"), resultOf(false)),
    ),
    asked("lookup-entity", { entity_type: "doc", permission, subject }, (answer) =>
      isSame(partOf(answer, "entity_ids"), right.entities.toSorted()),
    ),
    asked("lookup-subject", { entity, permission, subject_reference: { type: "user" } }, (answer) =>
      isSame(partOf(answer, "subject_ids"), right.subjects.toSorted()),
    ),
    asked("subject-permission", { entity, subject }, (answer) => {
      const results = partOf(answer, "results");
      if (typeof results !== "object" || results === null) return false;
      const found = Object.entries(results);
      return (
        found.length === right.permissions.size &&
        found.every(([name, result]) => result === resultOf(right.permissions.get(name) === true))
      );
    }),
  ];
}

function resultOf(isAllowed: boolean): string {
  return isAllowed ? "RESULT_ALLOWED" : "RESULT_DENIED";
}

function partOf(answer: unknown, key: string): unknown {
  return typeof answer === "object" && answer !== null ? Reflect.get(answer, key) : undefined;
}

function isSame(found: unknown, right: unknown): boolean {
  return JSON.stringify(found) === JSON.stringify(right);
}

function tuple(id: string, relation: string, subject: HostileTuple["subject"]): HostileTuple {
  return { entity: { type: "doc", id }, relation, subject };
}

/** A number in three letters. */
function letters(number: number): string {
  const first = "a".charCodeAt(0);
  const places = [26 ** 2, 26, 1].map((place) => first + (Math.floor(number / place) % 26));
  return String.fromCharCode(...places);
}
