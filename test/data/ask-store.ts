import { emptyContext, type SchemaVersion, type SnapToken } from "../../src/base/tuple.ts";
import { parseTenantId } from "../../src/service/field.ts";
import type { LookupFrame, LookupPage, Store } from "../../src/store/store.ts";
import type { Lookup, Question } from "./dataset.ts";

/** The tenant that every database starts with. */
export const firstTenant = parseTenantId("t1");

const defaultDepth = 100;

/** One check at the head of the schema, of the present state unless another one is named. */
export async function checkThrough(
  store: Pick<Store, "permissions">,
  question: Question,
  {
    snapToken,
    depth = defaultDepth,
  }: { readonly snapToken?: SnapToken; readonly depth?: number } = {},
): Promise<boolean> {
  const { entity, permission, user } = question;
  const subject = { type: "user", id: user, relation: "" };
  const [answer] = await store.permissions.check(firstTenant, {
    schemaVersion: undefined,
    snapToken,
    depth,
    context: emptyContext,
    items: [{ entity, permission, subject, arguments: [] }],
    path: (_item, field) => field,
  });
  return answer?.allowed ?? false;
}

/** One page of a lookup: the first one, unless an id is given that it begins after. */
export async function lookUpThrough(
  store: Pick<Store, "lookups">,
  lookup: Lookup,
  page: {
    readonly limit: number;
    readonly after?: string | undefined;
    readonly depth?: number;
    readonly snapToken?: SnapToken;
    readonly schemaVersion?: SchemaVersion;
  },
): Promise<LookupPage> {
  const frame: LookupFrame = {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: defaultDepth,
    context: emptyContext,
    after: undefined,
    ...page,
  };
  const { permission } = lookup;
  if (lookup.kind === "entities") {
    const subject = { type: "user", id: lookup.user, relation: "" };
    const asked = { entityType: lookup.entityType, permission, subject, scope: new Map() };
    return await store.lookups.entities(firstTenant, { ...frame, ...asked });
  }
  const { entity } = lookup;
  const asked = { entity, permission, arguments: [], subjectType: "user", subjectRelation: "" };
  return await store.lookups.subjects(firstTenant, { ...frame, ...asked });
}
