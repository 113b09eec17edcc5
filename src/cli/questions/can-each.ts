import { type Static, Type } from "typebox";

import { unansweredCodes } from "../../base/error.ts";
import { askTenant, ServerRefusal } from "../client/ask.ts";
import { readDefinitions } from "../client/head-schema.ts";
import type { EntityWord, SubjectWord } from "../client/notation.ts";
import type { Server } from "../client/send.ts";
import { messageOf } from "../output.ts";
import { ResultShape } from "./result.ts";

const CheckAnswer = Type.Object({ can: ResultShape });

/** The answers that there are, and the messages of those that there are not, by the names. */
export interface EachAnswer {
  readonly results: Readonly<Record<string, Static<typeof ResultShape>>>;
  readonly errors: Readonly<Record<string, string>>;
}

/**
 * Asks for each permission and relation of the entity by a check of its own. The server answers all of them
 * or none, so this comes after `failure` of that one request. Fails with it if it is not of one name, or if
 * the names cannot be read.
 */
export async function askEach(
  server: Server,
  failure: unknown,
  question: {
    readonly metadata: object;
    readonly entity: EntityWord;
    readonly subject: SubjectWord;
  },
): Promise<EachAnswer> {
  if (!(failure instanceof ServerRefusal) || !unansweredCodes.has(failure.code)) throw failure;
  const results: Record<string, Static<typeof ResultShape>> = {};
  const errors: Record<string, string> = {};
  for (const permission of await namesOf(server, question.entity.type, failure)) {
    const request = { body: { ...question, permission }, answer: CheckAnswer };
    try {
      results[permission] = (await askTenant(server, "permissions/check", request)).can;
    } catch (error) {
      if (!(error instanceof ServerRefusal) || !unansweredCodes.has(error.code)) throw error;
      errors[permission] = messageOf(error);
    }
  }
  // An error that is the same for all names is one of the request.
  const isOfRequest =
    new Set(Object.values(errors)).size === 1 && Object.keys(results).length === 0;
  if (isOfRequest) throw failure;
  return { results, errors };
}

async function namesOf(server: Server, type: string, failure: unknown): Promise<readonly string[]> {
  try {
    const { schema } = await readDefinitions(server, "");
    const entity = schema.entity_definitions[type];
    return Object.keys({ ...entity?.relations, ...entity?.actions });
  } catch (error) {
    // The token may not read the schema, for example.
    if (error instanceof ServerRefusal) throw failure;
    throw error;
  }
}
