import { type Static, Type } from "typebox";

import { integerField, textField, uint32 } from "./field.ts";

/** What every request for a page holds. */
export const pageProperties = {
  page_size: integerField(),
  continuous_token: textField(),
};

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
