import assert from "node:assert/strict";

import { must } from "../../src/base/assert.ts";
import { emptyContext } from "../../src/base/tuple.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { benchTenant } from "../store.ts";
import type { WorkloadLookup } from "../workload.ts";
import type { Asked, Works } from "./way.ts";

/** Looks up one page of each, round and round, and compares all of its ids. */
export function lookupWorks(
  asked: Asked,
  lookups: readonly WorkloadLookup[],
  depth: number,
): Works {
  const workOf =
    (look: (asked: Asked, lookup: WorkloadLookup, depth: number) => Promise<readonly string[]>) =>
    async (nth: number): Promise<void> => {
      const lookup = must(lookups[nth % lookups.length], "a class has some");
      assert.deepEqual(await look(asked, lookup, depth), lookup.found, `wrong: ${textOf(lookup)}`);
    };
  return { engine: workOf(lookUpThrough), rest: workOf(overRest), grpc: workOf(overGrpc) };
}

/** The ids of one page, asked of an engine. */
export async function lookUpThrough(
  { store }: Pick<Asked, "store">,
  lookup: WorkloadLookup,
  depth: number,
): Promise<readonly string[]> {
  const { permission, limit } = lookup;
  const frame = {
    schemaVersion: undefined,
    snapToken: undefined,
    depth,
    context: emptyContext,
    after: undefined,
    limit,
    permission,
  };
  if (lookup.kind === "entities") {
    const { entityType } = lookup;
    const subject = { type: "user", id: lookup.user, relation: "" };
    const asked = { ...frame, entityType, subject, scope: new Map() };
    return (await store.lookups.entities(benchTenant, asked)).items;
  }
  const { entity } = lookup;
  const asked = { ...frame, entity, arguments: [], subjectType: "user", subjectRelation: "" };
  return (await store.lookups.subjects(benchTenant, asked)).items;
}

async function overRest(
  { clients: { rest } }: Asked,
  lookup: WorkloadLookup,
  depth: number,
): Promise<readonly string[]> {
  const { permission, limit } = lookup;
  const frame = { metadata: { depth }, permission, page_size: limit };
  if (lookup.kind === "entities") {
    const answer: { readonly entity_ids: readonly string[] } = JSON.parse(
      await rest.post("permissions/lookup-entity", {
        ...frame,
        entity_type: lookup.entityType,
        subject: { type: "user", id: lookup.user },
      }),
    );
    return answer.entity_ids;
  }
  const answer: { readonly subject_ids: readonly string[] } = JSON.parse(
    await rest.post("permissions/lookup-subject", {
      ...frame,
      entity: lookup.entity,
      subject_reference: { type: "user" },
    }),
  );
  return answer.subject_ids;
}

async function overGrpc(
  { clients: { grpc } }: Asked,
  lookup: WorkloadLookup,
  depth: number,
): Promise<readonly string[]> {
  const { permission, limit } = lookup;
  const frame = { tenantId: benchTenant, metadata: { depth }, permission, pageSize: limit };
  if (lookup.kind === "entities") {
    const { entityIds } = await grpc.call(Permission.method.lookupEntity, {
      ...frame,
      entityType: lookup.entityType,
      subject: { type: "user", id: lookup.user },
    });
    return entityIds;
  }
  const { subjectIds } = await grpc.call(Permission.method.lookupSubject, {
    ...frame,
    entity: lookup.entity,
    subjectReference: { type: "user" },
  });
  return subjectIds;
}

function textOf(lookup: WorkloadLookup): string {
  return lookup.kind === "entities"
    ? `${lookup.entityType} of which user:${lookup.user} has ${lookup.permission}`
    : `users with ${lookup.permission} of ${lookup.entity.type}:${lookup.entity.id}`;
}
