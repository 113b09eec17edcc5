import { type Static, Type } from "typebox";

import {
  bundleNamePattern,
  defaultDepth,
  idPattern,
  maxPageSize,
  namePattern,
  defaultPageSize,
} from "../../service/field.ts";
import { type About, integerField, textField, uint32 } from "./field.ts";

/** Fields whose values have a rule of the service, with what the description says of them. */

type Said = Pick<About, "description" | "required">;

/** Of a list or a map whose elements are ids, and of one whose elements are names. */
export const idRule: About = { pattern: idPattern };
export const nameRule: About = { pattern: namePattern };

/** Free text, which may hold anything but NUL. */
export const textRule: About = { pattern: new RegExp(String.raw`^[^\x00]*$`) };

const optionalName = new RegExp(`^$|${namePattern.source}`);
const maxUint32 = 2 ** 32 - 1;
const maxInt32 = 2 ** 31 - 1;

export function nameField(about: Said): ReturnType<typeof textField> {
  return textField({ ...about, ...nameRule });
}

/** A name that may be left out or empty. */
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
  description: "The version of the schema to go by; empty for the newest one.",
  default: "",
});

export const snapTokenField = textField({
  description:
    "The state of the data to answer from, as a write or delete gave it; empty for the newest one.",
  default: "",
});

export const depthField = integerField({
  description: `Most hops from the entity to the subject; 0 for the default, ${defaultDepth}.`,
  minimum: 0,
  maximum: maxInt32,
  default: defaultDepth,
});

/** What asks for a page and the ones behind it; `defaultSize` is what a page holds unless asked. */
export function pageFields(defaultSize: number | undefined): {
  readonly page_size: ReturnType<typeof integerField>;
  readonly continuous_token: ReturnType<typeof textField>;
} {
  const cut = `a page holds ${maxPageSize.toLocaleString("en")} at most, whatever is asked.`;
  return {
    page_size: integerField({
      description:
        defaultSize === undefined ? "Most results; all unless said." : `Most results; ${cut}`,
      minimum: 1,
      maximum: maxUint32,
      ...(defaultSize !== undefined && { default: defaultSize }),
    }),
    continuous_token: textField({
      description: "Where to go on, as the page before gave it; empty for the first page.",
      default: "",
    }),
  };
}

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
