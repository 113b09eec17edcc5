import { must } from "../../src/base/assert.ts";
import { type ErrorCode, PembaError } from "../../src/base/error.ts";
import type { Attribute, SchemaVersion, SnapToken, TenantId } from "../../src/base/tuple.ts";
import { parseNewTenantId } from "../../src/service/field.ts";
import type { QuestionFrame, Store } from "../../src/store/store.ts";
import type { Case, Round, Write } from "./case.ts";
import type { Facts } from "./ground.ts";
import type { Outcome } from "./oracle.ts";

/** A case after an engine has been told its schemas and writes: what its questions pin. */
export interface Story {
  readonly store: Store;
  readonly tenant: TenantId;
  readonly versions: readonly SchemaVersion[];
  /** The token of each write. */
  readonly tokens: readonly SnapToken[];
}

let tenants = 0;

/** Tells the engine the case, in a tenant of its own. */
export async function tell(store: Store, one: Pick<Case, "schemas" | "writes">): Promise<Story> {
  tenants += 1;
  const tenant = parseNewTenantId(`case-${tenants}`);
  await store.tenants.create({ id: tenant, name: "" });
  const versions: SchemaVersion[] = [];
  for (const text of one.schemas) {
    versions.push(must(await store.schemas.write(tenant, { text }), "nothing else is written"));
  }
  const tokens: SnapToken[] = [];
  for (const write of one.writes) tokens.push(await tellWrite({ store, tenant, versions }, write));
  return { store, tenant, versions, tokens };
}

/** One more write into a tenant that is there. */
export async function tellWrite(
  story: Pick<Story, "store" | "tenant" | "versions">,
  write: Write,
): Promise<SnapToken> {
  const { tuples, attributes } = write;
  const schemaVersion = must(story.versions[write.schema], "the write names a schema");
  return await story.store.data.write(story.tenant, { schemaVersion, tuples, attributes });
}

/** What all questions of a round have in common. */
export function frameOf({ versions, tokens }: Story, round: Round): QuestionFrame {
  return {
    schemaVersion: round.schema === null ? undefined : versions[round.schema],
    snapToken: round.after === null ? undefined : tokens[round.after],
    depth: round.depth,
    context: round.context,
  };
}

/** What the engine says to the items of a round, asked together. */
export async function ask(story: Story, round: Round): Promise<readonly Outcome[]> {
  const { items } = round;
  try {
    const answers = await story.store.permissions.check(story.tenant, {
      ...frameOf(story, round),
      items,
      path: (item, field) => `items[${item}].${field}`,
    });
    return answers.map((answer) => {
      if (answer.nodes < 1) throw new Error(`an answer counts ${answer.nodes} nodes`);
      return answer.allowed ? "allowed" : "denied";
    });
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return items.map(() => outcomeOf(error.code));
  }
}

/** What the engine says to each item of a round, asked alone. */
export async function askSingly(story: Story, round: Round): Promise<readonly Outcome[]> {
  const answers = await Promise.all(
    round.items.map((item) => ask(story, { ...round, items: [item] })),
  );
  return answers.flat();
}

/** What an error of an engine comes to. */
export function outcomeOf(code: ErrorCode): Outcome {
  switch (code) {
    case "ENTITY_TYPE_NOT_FOUND":
    case "PERMISSION_NOT_FOUND":
    case "SUBJECT_TYPE_NOT_FOUND":
    case "RELATION_DEFINITION_NOT_FOUND":
      return "refused";
    default:
      return code;
  }
}

/** The data as it stands after a write, or after all of them. */
export function factsAfter(writes: readonly Write[], after: number | null): Facts {
  const done = after === null ? writes : writes.slice(0, after + 1);
  const attributes = new Map<string, Attribute>();
  for (const one of done.flatMap((write) => write.attributes)) {
    attributes.set(`${one.entity.type}:${one.entity.id}$${one.attribute}`, one);
  }
  return { tuples: done.flatMap((write) => write.tuples), attributes: [...attributes.values()] };
}
