import { assert } from "../base/assert.ts";
import { type Scope, scopes } from "../base/scope.ts";

/**
 * The operations of each scope, by the names that they have over all transports. Only `schema`,
 * `tenant` and `write` change anything; what is stored is read with `read`, schemas and the list of
 * tenants included, so that to look never needs a scope that changes something.
 */
const operations: Readonly<Record<Scope, readonly string[]>> = {
  check: [
    "permissions.check",
    "permissions.bulk-check",
    "permissions.lookup-entity",
    "permissions.lookup-entity-stream",
    "permissions.lookup-subject",
    "permissions.subject-permission",
    "permissions.expand",
  ],
  read: [
    "data.relationships.read",
    "data.attributes.read",
    "bundle.read",
    "schemas.read",
    "schemas.list",
    "tenants.list",
  ],
  write: [
    "data.write",
    "data.delete",
    "data.run-bundle",
    "relationships.write",
    "relationships.delete",
    "bundle.write",
    "bundle.delete",
  ],
  schema: ["schemas.write", "schemas.partial-write"],
  tenant: ["tenants.create", "tenants.delete"],
  watch: ["watch"],
};

/** Of no tenant: health needs no token, and a description needs no more than a good one. */
const withoutScope: readonly string[] = ["health.check", "health.watch", "reflection"];

const scopeByName: ReadonlyMap<string, Scope | undefined> = new Map([
  ...withoutScope.map((name) => [name, undefined] as const),
  ...scopes.flatMap((scope) => operations[scope].map((name) => [name, scope] as const)),
]);

/**
 * The scope that an operation belongs to; undefined for one that every good token is enough for.
 * An operation that is nowhere above is a fault of ours, which ends the start.
 */
export function scopeOf(operation: string): Scope | undefined {
  assert(scopeByName.has(operation), `the operation ${operation} belongs to a scope`);
  return scopeByName.get(operation);
}
