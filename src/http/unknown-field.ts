import type { FastifyRequest } from "fastify";

import { type ErrorDetail, PembaError } from "../base/error.ts";
import { pathUnder, quote } from "../base/quote.ts";
import { isMissing } from "../service/field.ts";
import { type BodyPart, fieldsOf, partUnder } from "./body-part.ts";

/** A misspelled field is one of a few. */
const shownMax = 3;

/**
 * The error of a request that lacks a field, with fields of its body that the operation does not have: one of
 * them was probably meant. Unknown fields alone are no error. Any other error as it is.
 */
export function withUnknownFields(error: PembaError, request: FastifyRequest): PembaError {
  const missing = error.details.find(isMissing)?.field;
  if (missing === undefined) return error;
  const unknown = unknownFields(holderOf(missing, request));
  if (unknown.length === 0) return error;
  const names = unknown.map(quote).join(", ");
  const problem = unknown.length === 1 ? "is not a field" : "are no fields";
  const message = `${error.plainMessage}, and ${names} ${problem} of this request`;
  const details = unknown.map((field): ErrorDetail => ({
    field,
    message: "is not a field of this request",
  }));
  return new PembaError(error.code, message, {
    details: [...error.details, ...details],
    cause: error,
  });
}

/** The object that should have the field, or what there is of the way to it. */
function holderOf(field: string, { body, routeOptions }: FastifyRequest): BodyPart {
  let part: BodyPart = { shape: routeOptions.schema?.body, value: body, path: "" };
  for (const step of field.split(/[.[\]]+/).slice(0, -1)) {
    const inner = partUnder(part, step);
    if (typeof inner.value !== "object" || inner.value === null) break;
    part = inner;
  }
  return part;
}

function unknownFields(part: BodyPart): readonly string[] {
  const { value, path } = part;
  const known = fieldsOf(part);
  if (known === undefined || typeof value !== "object" || value === null) return [];
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .slice(0, shownMax)
    .map((key) => pathUnder(path, key));
}
