import type { SnapToken } from "../base/tuple.ts";
import { missingField } from "./field.ts";
import type { Service } from "./service.ts";
import { writeData, type WriteDataRequest } from "./write-data.ts";

/** The older way to write, which knows tuples only and wants at least one. */
export async function writeRelationships(
  service: Service,
  request: Omit<WriteDataRequest, "attributes">,
): Promise<SnapToken> {
  if ((request.tuples ?? []).length === 0) throw missingField("tuples", "at least one tuple");
  return await writeData(service, request);
}
