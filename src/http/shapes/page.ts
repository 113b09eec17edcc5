import { type Static, Type } from "typebox";

import { defaultPageSize } from "../../service/field.ts";
import { uint32 } from "./field.ts";
import { pageFields } from "./value-fields.ts";

/** What every request for a page of a list or a read holds. */
export const pageProperties = pageFields(defaultPageSize);

/** The request of every list that is filtered by nothing. */
export const pageBody = Type.Object(pageProperties);

export function decodePage(body: Static<typeof pageBody>): {
  readonly pageSize: number | undefined;
  readonly continuousToken: string | null | undefined;
} {
  return {
    pageSize: uint32(body.page_size, "page_size"),
    continuousToken: body.continuous_token,
  };
}
