import { type Static, Type } from "typebox";

import { defaultDepth } from "../../base/verdict.ts";
import {
  bundleNamePattern,
  idPattern,
  maxPageSize,
  namePattern,
  defaultPageSize,
} from "../../service/field.ts";
import { type About, integerField, textField, uint32 } from "./field.ts";

/** Fields whose values the service checks, with the rules for the description. */

type Said = Pick<About, "description" | "required">;

/** For a list or a map with ids, and for one with names. */
export const idRule: About = { pattern: idPattern };
export const nameRule: About = { pattern: namePattern };

/** Free text, which may contain everything except NUL. */
export const textRule: About = { pattern: new RegExp(String.raw`^[^\x00]*$`) };
/** The same, but not empty. */
export const filledTextRule: About = { pattern: new RegExp(String.raw`^[^\x00]+$`) };

const optionalName = new RegExp(`^$|${namePattern.source}`);
const maxUint32 = 2 ** 32 - 1;
const maxInt32 = 2 ** 31 - 1;

export function nameField(about: Said): ReturnType<typeof textField> {
  return textField({ ...about, ...nameRule });
}

/** A name that may be absent or empty. */
export function optionalNameField(about: Said): ReturnType<typeof textField> {
  return textField({ ...about, pattern: optionalName, default: "" });
}

export function idField(about: Said): ReturnType<typeof textField> {
  return textField({ ...about, ...idRule });
}

export function bundleNameField(about: Said): ReturnType<typeof textField> {
  return textField({ ...about, pattern: bundleNamePattern });
}

export const schemaVersionField = textField({
  description: "The version of the schema to use; empty for the newest one.",
  default: "",
});

export const snapTokenField = textField({
  description:
    "The state of the data to answer from, as a write or delete returned it; empty for the newest one.",
  default: "",
});

export const depthField = integerField({
  description: `Maximum hops from the entity to the subject; 0 for the default, ${defaultDepth}.`,
  minimum: 0,
  maximum: maxInt32,
  default: defaultDepth,
});

/** The fields that ask for a page. `defaultSize` is the page size if none is given. */
export function pageFields(defaultSize: number | undefined): {
  readonly page_size: ReturnType<typeof integerField>;
  readonly continuous_token: ReturnType<typeof textField>;
} {
  const cut = `a page holds at most ${maxPageSize.toLocaleString("en")}.`;
  return {
    page_size: integerField({
      description:
        defaultSize === undefined
          ? "Maximum number of results; all by default."
          : `Maximum number of results; ${cut}`,
      minimum: 1,
      maximum: maxUint32,
      ...(defaultSize !== undefined && { default: defaultSize }),
    }),
    continuous_token: textField({
      description: "The token of the page before; empty for the first page.",
      default: "",
    }),
  };
}

/** The fields of every request for a page of a list or a read. */
export const pageProperties = pageFields(defaultPageSize);

/** The body of every list request without a filter. */
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
