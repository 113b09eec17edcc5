import type { Static } from "typebox";

import type { explainAnswer } from "../../http/shapes/explain.ts";
import type {
  checkAnswer,
  lookupEntityAnswer,
  lookupSubjectAnswer,
  subjectPermissionAnswer,
} from "../../http/shapes/permission.ts";
import { send, tenantPath } from "./send.ts";

export type ExplainedCheck = Static<typeof explainAnswer>;
export type Proof = ExplainedCheck["proof"];

export interface EntityRef {
  readonly type: string;
  readonly id: string;
}

export interface SubjectRef extends EntityRef {
  /** "" for the subject itself. */
  readonly relation: string;
}

/** What all questions have in common, as they are sent. */
export interface AskedFrame {
  readonly metadata: {
    readonly snap_token?: string;
    readonly schema_version?: string;
    readonly depth?: number;
  };
  readonly context?: object;
}

async function ask<T>(
  tenant: string,
  operation: string,
  body: object,
  signal: AbortSignal | undefined,
): Promise<T> {
  const path = tenantPath(tenant, `permissions/${operation}`);
  return await send<T>({ method: "POST", path, body, signal });
}

export async function explain(
  tenant: string,
  question: AskedFrame & {
    readonly entity: EntityRef;
    readonly permission: string;
    readonly subject: SubjectRef;
  },
  signal?: AbortSignal,
): Promise<ExplainedCheck> {
  return await ask(tenant, "explain", question, signal);
}

export interface PageOf {
  readonly page_size: number;
  readonly continuous_token: string;
}

export async function lookupEntity(
  tenant: string,
  question: AskedFrame &
    PageOf & {
      readonly entity_type: string;
      readonly permission: string;
      readonly subject: SubjectRef;
    },
  signal?: AbortSignal,
): Promise<Static<typeof lookupEntityAnswer>> {
  return await ask(tenant, "lookup-entity", question, signal);
}

export async function lookupSubject(
  tenant: string,
  question: AskedFrame &
    PageOf & {
      readonly entity: EntityRef;
      readonly permission: string;
      readonly subject_reference: { readonly type: string; readonly relation: string };
    },
  signal?: AbortSignal,
): Promise<Static<typeof lookupSubjectAnswer>> {
  return await ask(tenant, "lookup-subject", question, signal);
}

/** A question about an entity and a subject. */
export type AskedAbout = AskedFrame & { readonly entity: EntityRef; readonly subject: SubjectRef };

export async function check(
  tenant: string,
  question: AskedAbout & { readonly permission: string },
  signal?: AbortSignal,
): Promise<Static<typeof checkAnswer>> {
  return await ask(tenant, "check", question, signal);
}

export async function listPermissions(
  tenant: string,
  question: AskedAbout,
  signal?: AbortSignal,
): Promise<Static<typeof subjectPermissionAnswer>> {
  return await ask(tenant, "subject-permission", question, signal);
}
