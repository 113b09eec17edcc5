import { assert } from "../base/assert.ts";
import { type Scope, scopes } from "../base/scope.ts";

/** All questions about permissions are of this scope, by the beginning of their names. */
const questions = "permissions.";

/**
 * The other operations of each scope, by their names in all transports. Only `schema`, `tenant` and
 * `write` allow changes. Everything stored is read with `read`, including schemas and the list of
 * tenants, so that reading never needs a scope that allows changes.
 */
const operations: Readonly<Record<Exclude<Scope, "check">, readonly string[]>> = {
  read: [
    "data.relationships.read",
    "data.attributes.read",
    "bundle.read",
    "bundle.list",
    "schemas.read",
    "schemas.read-text",
    "schemas.list",
    "tenants.list",
    "tenants.list-placed",
  ],
  write: [
    "data.write",
    "data.delete",
    "data.change",
    "data.run-bundle",
    "relationships.write",
    "relationships.delete",
    "bundle.write",
    "bundle.delete",
  ],
  schema: ["schemas.write", "schemas.partial-write", "schemas.change", "schemas.activate"],
  tenant: ["tenants.create", "tenants.place", "tenants.delete"],
  watch: ["watch"],
};

/** Operations without a tenant: health needs no token, reflection needs any valid token. */
const withoutScope: readonly string[] = ["health.check", "health.watch", "reflection"];

const scopeByName: ReadonlyMap<string, Scope | undefined> = new Map([
  ...withoutScope.map((name) => [name, undefined] as const),
  ...scopes.flatMap((scope) =>
    scope === "check" ? [] : operations[scope].map((name) => [name, scope] as const),
  ),
]);

/**
 * The scope of an operation. Undefined if any valid token is enough. An operation that is missing
 * above is a bug, which prevents the start.
 */
export function scopeOf(operation: string): Scope | undefined {
  if (operation.startsWith(questions)) return "check";
  assert(scopeByName.has(operation), `the operation ${operation} belongs to a scope`);
  return scopeByName.get(operation);
}
