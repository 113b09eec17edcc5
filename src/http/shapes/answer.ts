import { type TUnsafe, Type } from "typebox";

/** The common parts of answers. */

export const nextPage = Type.String({
  description: "Asks for the next page; empty on the last one.",
});

export const timeAnswer = Type.String({ format: "date-time", description: "In UTC." });

export const snapTokenAnswer = Type.Object({
  snap_token: Type.String({ description: "Names the state right after the change." }),
});

export const schemaVersionAnswer = Type.Object({
  schema_version: Type.String({
    description: "Names the version that was written, which is now the newest one.",
  }),
});

export function textsAnswer(
  options: { readonly description?: string } = {},
): TUnsafe<readonly string[]> {
  return Type.Unsafe<readonly string[]>(Type.Array(Type.String(), options));
}
