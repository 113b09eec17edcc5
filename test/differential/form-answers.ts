import { must } from "../../src/base/assert.ts";
import { PembaError } from "../../src/base/error.ts";
import type { Subject } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Schema } from "../../src/language/schema.ts";
import type { LookupFrame, LookupPage, Store } from "../../src/store/store.ts";
import { itemText, subjectText } from "./case.ts";
import type {
  CheckFormQuestion,
  FormQuestion,
  FormsStep,
  LookupFormQuestion,
  PermissionsQuestion,
  TreeQuestion,
} from "./form-questions.ts";
import { lookupText } from "./lookup-case.ts";
import type { Lookup } from "./lookup-oracle.ts";
import type { Outcome } from "./oracle.ts";
import { ask, frameOf, outcomeOf, type Story, tell, tellWrite } from "./story.ts";
import { treeValue } from "./tree-value.ts";

/** A question that was answered otherwise than the contract allows. */
export interface FormFault {
  readonly question: FormQuestion;
  readonly what: string;
}

/** Tells an engine the steps in a tenant of its own, and gives what it answers wrongly. */
export async function formFaults(
  store: Store,
  schema: string,
  steps: readonly FormsStep[],
): Promise<readonly FormFault[]> {
  const empty = await tell(store, { schemas: [schema], writes: [] });
  const compiled = compileSchemaText(schema);
  const faults: FormFault[] = [];
  let story: Story = empty;
  for (let place = 0; place < steps.length;) {
    const step = steps[place];
    if (step?.kind === "ask") {
      const questions = questionsFrom(steps, place);
      place += questions.length;
      faults.push(...(await askAll(story, compiled, questions)));
      continue;
    }
    place += 1;
    if (step?.kind === "write") {
      const token = await tellWrite(story, step.write);
      story = { ...story, tokens: [...story.tokens, token] };
    } else if (step?.kind === "older write") {
      await tellOlderWrite(story, schema, step);
    } else if (step?.kind === "delete") {
      await forget(story, step.type);
    }
  }
  return faults;
}

/** Tells a write under another schema, and then the own schema again. */
export async function tellOlderWrite(
  { store, tenant }: Story,
  own: string,
  { schema, write }: Extract<FormsStep, { readonly kind: "older write" }>,
): Promise<void> {
  const version = must(await store.schemas.write(tenant, { text: schema }), "it is written");
  await tellWrite({ store, tenant, versions: [version] }, write);
  await store.schemas.write(tenant, { text: own });
}

/** The questions that stand together, between two changes. */
function questionsFrom(steps: readonly FormsStep[], start: number): readonly FormQuestion[] {
  const questions: FormQuestion[] = [];
  for (const step of steps.slice(start)) {
    if (step.kind !== "ask") break;
    questions.push(step.question);
  }
  return questions;
}

async function askAll(
  story: Story,
  schema: Schema,
  questions: readonly FormQuestion[],
): Promise<readonly FormFault[]> {
  const faults = await Promise.all(
    questions.map(async (question) => {
      const what = await faultOf(story, schema, question);
      return what === undefined ? [] : [{ question, what: `${question.form}: ${what}` }];
    }),
  );
  return faults.flat();
}

export async function forget({ store, tenant }: Story, type: string): Promise<void> {
  const about = { type, ids: [] };
  await store.data.delete(tenant, {
    tuples: { entity: about, relation: "", subject: { type: "", ids: [], relation: "" } },
    attributes: { entity: about, attributes: [] },
  });
}

export async function faultOf(
  story: Story,
  schema: Schema,
  question: FormQuestion,
): Promise<string | undefined> {
  switch (question.form) {
    case "permissions":
      return permissionsFault(question, await permissionsOf(story, question));
    case "entities":
    case "entities by context":
    case "subjects":
    case "subjects by context":
      return lookupFault(question, await idsOf(story, question));
    case "expand":
      return await treeFault(story, schema, question);
    default:
      return checkFault(question, await ask(story, question.round));
  }
}

function checkFault(
  { round, expected }: CheckFormQuestion,
  answers: readonly Outcome[],
): string | undefined {
  const [failure] = answers;
  // An item that fails fails all that are asked with it.
  if (isFailure(failure) && expected.some((one) => one.includes(failure))) return undefined;
  const wrong = round.items.flatMap((item, place) => {
    const wanted = expected[place] ?? [];
    const got = answers[place];
    return got !== undefined && wanted.includes(got)
      ? []
      : [`${itemText(item)} is ${got}, not ${wanted.join(" or ")}`];
  });
  return wrong.length === 0 ? undefined : wrong.join("; ");
}

function isFailure(outcome: Outcome | undefined): outcome is Outcome {
  return outcome !== undefined && outcome !== "allowed" && outcome !== "denied";
}

async function permissionsOf(
  story: Story,
  { round, entity, subject }: PermissionsQuestion,
): Promise<ReadonlyMap<string, Outcome> | Outcome> {
  const question = { ...frameOf(story, round), entity, subject, onlyPermission: false };
  return await outcomeFor(async () => {
    const answers = await story.store.permissions.subjectPermissions(story.tenant, question);
    return new Map(
      [...answers].map(([name, { allowed }]) => [name, allowed ? "allowed" : "denied"] as const),
    );
  });
}

function permissionsFault(
  { entity, subject, expected }: PermissionsQuestion,
  got: ReadonlyMap<string, Outcome> | Outcome,
): string | undefined {
  const of = `${entity.type}:${entity.id} of ${subjectText(subject)}`;
  if (typeof got === "string") {
    return expected.some(([, outcomes]) => outcomes.includes(got)) ? undefined : `${of} is ${got}`;
  }
  const wrong = expected.filter(([name, outcomes]) => {
    const outcome = got.get(name);
    return outcome === undefined || !outcomes.includes(outcome);
  });
  if (wrong.length === 0 && got.size === expected.length) return undefined;
  return `${of}: ${wrong.map(([name, [wanted]]) => `${name} is ${got.get(name)}, not ${wanted}`).join("; ")}`;
}

/** More than any lookup of a case finds. */
const all = 1_000;

async function idsOf(
  story: Story,
  { round, lookup }: LookupFormQuestion,
): Promise<LookupPage | Outcome> {
  const frame = { ...frameOf(story, round), after: undefined, limit: all };
  return await outcomeFor(() => lookUp(story, frame, lookup));
}

async function lookUp(
  { store, tenant }: Story,
  frame: LookupFrame,
  lookup: Lookup,
): Promise<LookupPage> {
  if (lookup.kind === "subjects")
    return await store.lookups.subjects(tenant, { ...frame, ...lookup });
  const scope = new Map(Object.entries(lookup.scope));
  return await store.lookups.entities(tenant, { ...frame, ...lookup, scope });
}

function lookupFault(
  { lookup, expected }: LookupFormQuestion,
  got: LookupPage | Outcome,
): string | undefined {
  const told = lookupText(lookup);
  if (typeof got === "string") {
    return expected.some(([, outcomes]) => outcomes.includes(got))
      ? undefined
      : `${told} is ${got}`;
  }
  const { items } = got;
  const strange = items.filter((id) => !expected.some(([known]) => known === id));
  const wrong = expected.filter(
    ([id, outcomes]) => !outcomes.includes(items.includes(id) ? "allowed" : "denied"),
  );
  // The expected ids stand in the order that the page must have.
  const order = expected.map(([id]) => id).filter((id) => items.includes(id));
  if (wrong.length + strange.length === 0 && order.join(" ") === items.join(" ")) return undefined;
  return `${told} finds ${items.join(" ")}, but ${wrong.map(([id, outcomes]) => `${id} is ${outcomes.join(" or ")}`).join(", ")}`;
}

/**
 * Where the answer for a subject is definite, the tree says the same: unions, intersections and
 * exclusions of its leaves, the values of attributes and the rules with theirs. Where there is an
 * error the tree may have a value or none, since it does not say that a cycle was cut.
 */
async function treeFault(
  story: Story,
  schema: Schema,
  { round, item, expected }: TreeQuestion,
): Promise<string | undefined> {
  const question = { ...frameOf(story, round), ...item };
  const tree = await outcomeFor(() => story.store.permissions.expand(story.tenant, question));
  if (typeof tree === "string") return `${itemText(item)} is ${tree}`;
  const read = (subject: Subject): Outcome | undefined => {
    const value = treeValue(tree, subject, schema, round.context);
    return value === undefined ? undefined : value ? "allowed" : "denied";
  };
  const wrong = expected.filter(([subject, outcomes]) => {
    const isSure = outcomes.length === 1 && !isFailure(outcomes[0]);
    return isSure && read(subject) !== outcomes[0];
  });
  if (wrong.length === 0) return undefined;
  const parts = wrong.map(
    ([subject, [wanted]]) =>
      `for ${subjectText(subject)} it comes to ${read(subject)}, not ${wanted}`,
  );
  return `${item.entity.type}:${item.entity.id} ${item.permission}: ${parts.join("; ")}`;
}

async function outcomeFor<T>(answer: () => Promise<T>): Promise<T | Outcome> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return outcomeOf(error.code);
  }
}
