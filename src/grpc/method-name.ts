import type { DescMethod } from "@bufbuild/protobuf";

import { scopeOf } from "../auth/operation-scopes.ts";
import { assert } from "../base/assert.ts";
import type { Scope } from "../base/scope.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { operationNames } from "../messages/operations.ts";
import { reflectionServices } from "./reflection.ts";

const names: ReadonlyMap<string, string> = new Map([
  ...[...operationNames].map(([method, name]) => [pathOf(method), name] as const),
  ...Health.methods.map((method) => [pathOf(method), `health.${method.localName}`] as const),
  ...reflectionServices
    .flatMap(({ methods }) => methods)
    .map((method) => [pathOf(method), "reflection"] as const),
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
