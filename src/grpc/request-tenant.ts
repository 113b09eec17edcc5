import type { DescMethod, Message } from "@bufbuild/protobuf";

import { Tenancy } from "../gen/base/v1/tenancy_pb.ts";

/** Whether requests of a method name a tenant. Requests that list tenants do not. */
export function namesTenant({ parent, input }: DescMethod): boolean {
  return parent.typeName === Tenancy.typeName || "tenantId" in input.field;
}

/**
 * The tenant of a request. Requests of tenancy name it by its id. Undefined if the request names
 * none, which the method refuses.
 */
export function tenantOf({ parent }: DescMethod, request: Message): string | undefined {
  const field = parent.typeName === Tenancy.typeName ? "id" : "tenantId";
  const tenant: unknown = Reflect.get(request, field);
  return typeof tenant === "string" && tenant !== "" ? tenant : undefined;
}
