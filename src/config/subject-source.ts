import type { Kind } from "./kind.ts";

/** Where the id of the subject comes from in SQL that does not name it. */
export type SubjectSource =
  /** A setting of the session or the transaction. */
  | { readonly kind: "setting"; readonly name: string }
  /** A claim of the JSON in the setting `request.jwt.claims`. */
  | { readonly kind: "jwt"; readonly claim: string };

/** A setting of the application has a dot in its name, so that it is none of the server's own. */
const setting = /^setting:([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)+)$/i;
const claim = /^jwt:([!-~]{1,200})$/;

/** A text such as `setting:pemba.subject` or `jwt:sub`. */
export const subjectSource: Kind<SubjectSource> = {
  expected: "setting:NAME with a dot in the name, such as setting:pemba.subject, or jwt:CLAIM",
  schema: { type: "string", pattern: `^(setting:.+|jwt:[!-~]+)$` },
  read: (text) => {
    const name = setting.exec(text)?.[1];
    if (name !== undefined) return { kind: "setting", name };
    const named = claim.exec(text)?.[1];
    return named === undefined ? undefined : { kind: "jwt", claim: named };
  },
};
