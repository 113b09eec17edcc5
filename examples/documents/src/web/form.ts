import type { FastifyInstance, FastifyRequest } from "fastify";

import { Problem } from "../problem.ts";

/** Lets the application read forms as browsers send them. */
export function acceptForms(application: FastifyInstance): void {
  application.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done) => done(null, new URLSearchParams(body.toString())),
  );
}

/**
 * Reads one field of a form: text of 1 to `length` characters. Fails with 400 and the field's name.
 */
export function formField({ body }: FastifyRequest, name: string, length: number): string {
  const values = body instanceof URLSearchParams ? body.getAll(name) : [];
  const [value = ""] = values;
  const isText = values.length === 1 && value !== "" && !value.includes("\0");
  if (isText && value.length <= length) return value;
  throw new Problem(400, `The field "${name}" must have 1 to ${length} characters.`);
}
