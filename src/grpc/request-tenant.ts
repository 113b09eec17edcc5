import type { DescMethod, Message } from "@bufbuild/protobuf";

import { Tenancy } from "../gen/base/v1/tenancy_pb.ts";

/** Whether requests of a method say of which tenant they are; those that list tenants are of none. */
export function namesTenant({ parent, input }: DescMethod): boolean {
  return parent.typeName === Tenancy.typeName || "tenantId" in input.field;
}

/**
 * The tenant that a request is about: requests of tenancy name it by its id. Undefined where it
 * names none, which is for the method to refuse.
 */
export function tenantOf({ parent }: DescMethod, request: Message): string | undefined {
  const field = parent.typeName === Tenancy.typeName ? "id" : "tenantId";
  const tenant: unknown = Reflect.get(request, field);
  return typeof tenant === "string" && tenant !== "" ? tenant : undefined;
}
