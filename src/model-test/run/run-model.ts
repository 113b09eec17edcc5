import { PembaError } from "../../base/error.ts";
import type { ErrorKind } from "../../base/error.ts";
import { sendData } from "../../condition/condition.ts";
import { lookupEntity, lookupSubject } from "../../service/lookups.ts";
import { check, explain } from "../../service/permissions.ts";
import type { Service } from "../../service/service.ts";
import {
  type Assertion,
  entityText,
  type ModelCase,
  type Scenario,
  subjectText,
} from "../file/model-file.ts";
import type { Answer, CaseOutcome, CaseResult } from "./case-result.ts";
import { proofLines } from "./proof-layout.ts";

/** A tenant of a store, whose schema and data are those of the file. */
export interface TestTenant {
  readonly service: Service;
  readonly tenantId: string;
}

/** Asks all that the scenarios assert, in the order of the file. Fails if the store does not answer. */
export async function runScenarios(
  tenant: TestTenant,
  scenarios: readonly Scenario[],
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const { name, cases } of scenarios) {
    for (const one of cases) {
      for (const { query, place, judge } of questionsOf(tenant, one)) {
        const start = performance.now();
        const outcome = await judge();
        const milliseconds = performance.now() - start;
        results.push({ scenario: name, kind: one.kind, query, place, outcome, milliseconds });
      }
    }
  }
  return results;
}

interface AskedAssertion extends Pick<CaseResult, "query" | "place"> {
  readonly judge: () => Promise<CaseOutcome>;
}

function questionsOf(tenant: TestTenant, one: ModelCase): readonly AskedAssertion[] {
  switch (one.kind) {
    case "check":
      return one.assertions.map((assertion) => ({
        query: `${subjectText(one.subject)} ${assertion.name} ${entityText(one.entity)}`,
        place: assertion.place,
        judge: async () => {
          const ask = async (): Promise<boolean> => await verdict(tenant, one, assertion.name);
          const outcome = await judged(assertion, ask);
          return outcome.kind === "failed"
            ? { ...outcome, proof: await proofOf(tenant, one, assertion.name) }
            : outcome;
        },
      }));
    case "entity_filter":
      return one.assertions.map((assertion) => ({
        query: `${subjectText(one.subject)} ${assertion.name} ${one.entityType}`,
        place: assertion.place,
        judge: async () =>
          await judged(assertion, async () => await entityIds(tenant, one, assertion.name)),
      }));
    case "subject_filter": {
      const { subjectType, subjectRelation } = one;
      const reference = subjectRelation === "" ? subjectType : `${subjectType}#${subjectRelation}`;
      return one.assertions.map((assertion) => ({
        query: `${entityText(one.entity)} ${assertion.name} ${reference}`,
        place: assertion.place,
        judge: async () =>
          await judged(assertion, async () => await subjectIds(tenant, one, assertion.name)),
      }));
    }
  }
}

/** Errors of the store itself are no result of a test. */
const fatalKinds: ReadonlySet<ErrorKind> = new Set([
  "internal",
  "unavailable",
  "deadline_exceeded",
  "cancelled",
]);

function isAnswer(error: unknown): error is PembaError {
  return error instanceof PembaError && !fatalKinds.has(error.kind);
}

async function judged<T extends Answer>(
  { expected }: Assertion<T>,
  ask: () => Promise<Answer>,
): Promise<CaseOutcome> {
  let got: Answer;
  try {
    got = await ask();
  } catch (error) {
    if (!isAnswer(error)) throw error;
    return { kind: "error", expected, message: messageInFile(error) };
  }
  return isSame(expected, got) ? { kind: "passed" } : { kind: "failed", expected, got, proof: [] };
}

/** The message of an error, with the place in a file where a request has a field. */
function messageInFile({ plainMessage }: PembaError): string {
  return plainMessage.replace(
    sendData,
    `${sendData}: in the file, \`context: {data: {...}}\` beside \`assertions\``,
  );
}

/** Lists are compared without their order. An id that is expected twice is found once. */
function isSame(expected: Answer, got: Answer): boolean {
  if (typeof expected === "boolean" || typeof got === "boolean") return expected === got;
  const sorted = got.toSorted();
  return (
    expected.length === got.length && expected.toSorted().every((id, index) => id === sorted[index])
  );
}

type CaseOf<Kind extends ModelCase["kind"]> = Extract<ModelCase, { readonly kind: Kind }>;

async function verdict(
  { service, tenantId }: TestTenant,
  { entity, subject, depth, context }: CaseOf<"check">,
  permission: string,
): Promise<boolean> {
  const metadata = { depth };
  const request = { tenantId, metadata, context, entity, subject, permission };
  return (await check(service, request)).allowed;
}

async function proofOf(
  { service, tenantId }: TestTenant,
  { entity, subject, depth, context }: CaseOf<"check">,
  permission: string,
): Promise<readonly string[]> {
  const metadata = { depth };
  const request = { tenantId, metadata, context, entity, subject, permission };
  try {
    return proofLines(await explain(service, request), context.data);
  } catch (error) {
    if (!isAnswer(error)) throw error;
    return [`no proof: ${messageInFile(error)}`];
  }
}

async function entityIds(
  { service, tenantId }: TestTenant,
  { entityType, subject, depth, context }: CaseOf<"entity_filter">,
  permission: string,
): Promise<readonly string[]> {
  const request = { tenantId, metadata: { depth }, context, entityType, subject, permission };
  return await allPages(async (continuousToken) => {
    const page = await lookupEntity(service, { ...request, continuousToken });
    return { ids: page.entityIds, continuousToken: page.continuousToken };
  });
}

async function subjectIds(
  { service, tenantId }: TestTenant,
  { entity, subjectType, subjectRelation, depth, context }: CaseOf<"subject_filter">,
  permission: string,
): Promise<readonly string[]> {
  const subjectReference = { type: subjectType, relation: subjectRelation };
  const request = { tenantId, metadata: { depth }, context, entity, subjectReference, permission };
  return await allPages(async (continuousToken) => {
    const page = await lookupSubject(service, { ...request, continuousToken });
    return { ids: page.subjectIds, continuousToken: page.continuousToken };
  });
}

/** The data of a file is limited, and so are the ids in it. */
async function allPages(
  read: (
    token: string,
  ) => Promise<{ readonly ids: readonly string[]; readonly continuousToken: string }>,
): Promise<readonly string[]> {
  const found: string[] = [];
  let token = "";
  do {
    const page = await read(token);
    found.push(...page.ids);
    token = page.continuousToken;
  } while (token !== "");
  return found;
}
