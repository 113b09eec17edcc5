/*
 * Questions as short texts: `doc:1#view@user:ada` is a check, `doc#view@user:ada` looks for documents, and
 * `doc:1#view@user` for users. The answers are texts as well.
 */
import assert from "node:assert/strict";

import { PembaError } from "../../src/base/error.ts";
import { emptyContext, type SnapToken, type TenantId } from "../../src/base/tuple.ts";
import type { LookupFrame, LookupPage, Store } from "../../src/store/store.ts";

/** The parts of such a text. An id is empty if it is looked for. */
export interface AskedText {
  readonly entity: { readonly type: string; readonly id: string };
  readonly permission: string;
  readonly subject: { readonly type: string; readonly id: string; readonly relation: string };
}

export function parseAsked(text: string): AskedText {
  const [, type, id, permission, subjectType, subjectId, relation] =
    /^(\w+)(?::(\w+))?#(\w+)@(\w+)(?::(\w+))?(?:#(\w+))?$/.exec(text) ?? assert.fail(text);
  return {
    entity: { type: type ?? "", id: id ?? "" },
    permission: permission ?? "",
    subject: { type: subjectType ?? "", id: subjectId ?? "", relation: relation ?? "" },
  };
}

/** `true`, `false` or ids with blanks between them; the code of the error if there is no answer. */
export async function outcomeOf(
  store: Store,
  tenant: TenantId,
  text: string,
  snapToken?: SnapToken,
): Promise<string> {
  const { entity, permission, subject } = parseAsked(text);
  try {
    if (entity.id === "" || subject.id === "") {
      return (await lookUp(store, tenant, text, { snapToken })).items.join(" ");
    }
    const [answer] = await store.permissions.check(tenant, {
      schemaVersion: undefined,
      snapToken,
      depth: 100,
      context: emptyContext,
      items: [{ entity, permission, subject, arguments: [] }],
      path: (_item, field) => field,
    });
    return String(answer?.allowed);
  } catch (error) {
    if (error instanceof PembaError) return error.code;
    throw error;
  }
}

/** A page of a lookup. */
export async function lookUp(
  store: Store,
  tenant: TenantId,
  text: string,
  given: Partial<LookupFrame> & { readonly scope?: ReadonlyMap<string, readonly string[]> } = {},
): Promise<LookupPage> {
  const { entity, permission, subject } = parseAsked(text);
  const { scope = new Map(), ...others } = given;
  const frame = {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 100,
    context: emptyContext,
    after: undefined,
    limit: 1_000,
    ...others,
  };
  const { lookups } = store;
  return entity.id === ""
    ? await lookups.entities(tenant, {
        ...frame,
        entityType: entity.type,
        permission,
        subject,
        scope,
      })
    : await lookups.subjects(tenant, {
        ...frame,
        entity,
        permission,
        arguments: [],
        subjectType: subject.type,
        subjectRelation: subject.relation,
      });
}
