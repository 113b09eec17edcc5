import { apiErrorOf, isUnanswered } from "../../api/api-error.ts";
import { type AskedAbout, check, listPermissions } from "../../api/permissions.ts";
import { schemaWorker } from "../../worker/client.ts";
import type { SchemaHead } from "../model/head.ts";

/** A name of an entity with its answer. */
export interface NamedAnswer {
  readonly name: string;
  readonly kind: "allowed" | "denied" | "unanswered";
}

/**
 * Asks for all permissions and relations of an entity. The server answers all of them or none. So if one has no
 * answer, each is asked by itself. Without a head the names are not known, and this fails.
 */
export async function askAll(
  tenant: string,
  head: SchemaHead | undefined,
  question: AskedAbout,
  signal: AbortSignal,
): Promise<readonly NamedAnswer[]> {
  try {
    const { results } = await listPermissions(tenant, question, signal);
    return Object.entries(results).map(([name, can]) => ({ name, kind: kindOf(can) }));
  } catch (error) {
    if (head === undefined || !isUnanswered(apiErrorOf(error))) throw error;
    const answers: NamedAnswer[] = [];
    for (const name of await namesOf(head, question.entity.type)) {
      const kind = await askOne(tenant, { ...question, permission: name }, signal);
      answers.push({ name, kind });
    }
    // An error of all of them is most often one of the question.
    if (answers.every(({ kind }) => kind === "unanswered")) throw error;
    return answers;
  }
}

async function askOne(
  tenant: string,
  question: AskedAbout & { readonly permission: string },
  signal: AbortSignal,
): Promise<NamedAnswer["kind"]> {
  try {
    const { can } = await check(tenant, question, signal);
    return kindOf(can);
  } catch (error) {
    if (!isUnanswered(apiErrorOf(error))) throw error;
    return "unanswered";
  }
}

/** In the order of the server. */
async function namesOf({ text }: SchemaHead, type: string): Promise<readonly string[]> {
  const { outline } = await schemaWorker.ask("inspect", { text });
  const found = outline?.types.find(({ name }) => name === type);
  const names = [...(found?.permissions ?? []), ...(found?.relations ?? [])].map(
    ({ name }) => name,
  );
  return names.toSorted();
}

function kindOf(can: string): NamedAnswer["kind"] {
  return can === "RESULT_ALLOWED" ? "allowed" : "denied";
}
