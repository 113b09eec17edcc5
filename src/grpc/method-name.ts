import type { DescMethod, DescService } from "@bufbuild/protobuf";

import { scopeOf } from "../auth/operation-scopes.ts";
import { assert } from "../base/assert.ts";
import type { Scope } from "../base/scope.ts";
import { Bundle } from "../gen/base/v1/bundle_pb.ts";
import { Data } from "../gen/base/v1/data_pb.ts";
import { Permission } from "../gen/base/v1/permission_pb.ts";
import { Schema } from "../gen/base/v1/schema_pb.ts";
import { Tenancy } from "../gen/base/v1/tenancy_pb.ts";
import { Watch } from "../gen/base/v1/watch_pb.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { reflectionServices } from "./reflection.ts";

/** Services by their names in REST paths. */
const groups: readonly (readonly [DescService, string])[] = [
  [Permission, "permissions"],
  [Schema, "schemas"],
  [Data, "data"],
  [Bundle, "bundle"],
  [Tenancy, "tenants"],
  [Health, "health"],
];

/** Methods whose name is not service and method. */
const others: readonly (readonly [DescMethod, string])[] = [
  [Data.method.writeRelationships, "relationships.write"],
  [Data.method.deleteRelationships, "relationships.delete"],
  [Data.method.readRelationships, "data.relationships.read"],
  [Data.method.readAttributes, "data.attributes.read"],
  [Watch.method.watch, "watch"],
];

const names: ReadonlyMap<string, string> = new Map([
  ...groups.flatMap(([service, group]) =>
    service.methods.map((method) => [pathOf(method), `${group}.${kebab(method.name)}`] as const),
  ),
  ...reflectionServices
    .flatMap(({ methods }) => methods)
    .map((method) => [pathOf(method), "reflection"] as const),
  ...others.map(([method, name]) => [pathOf(method), name] as const),
]);

/** The name of a method in all transports, such as `permissions.check`. */
export function methodName(path: string): string {
  return names.get(path) ?? "unknown";
}

const scopes: ReadonlyMap<string, Scope | undefined> = new Map(
  [...names].map(([path, name]) => [path, scopeOf(name)]),
);

/** The scope that a token needs for calls of a path. Undefined if any valid token is enough. */
export function scopeOfPath(path: string): Scope | undefined {
  return scopes.get(path);
}

/** Fails if a served method has no name, because it would have no scope either. */
export function assertNamed(path: string): void {
  assert(names.has(path), `the method ${path} has a name`);
}

/** The path of a method in the head of a call. */
export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function kebab(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
}
