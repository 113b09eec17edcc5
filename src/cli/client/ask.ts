import type { Static, TSchema } from "typebox";
import { Check } from "typebox/schema";

import { sendData } from "../../condition/condition.ts";
import { codeOf } from "../output.ts";
import { sendRepeatedly } from "./repeat.ts";
import { send, type Server, tenantPath } from "./send.ts";

/** The server cannot be reached, or refused the request. */
export class ServerRefusal extends Error {
  override readonly name = "ServerRefusal";

  /** The code of the server's error, such as `TENANT_NOT_FOUND`. */
  get code(): string | undefined {
    return codeOf(this.message);
  }
}

/** Asks the tenant by a path such as `permissions/check`. Fails with ServerRefusal. */
export async function askTenant<Shape extends TSchema>(
  server: Server,
  rest: string,
  request: { readonly body: unknown; readonly answer: Shape },
): Promise<Static<Shape>> {
  return await askServer(server, { ...request, method: "POST", path: tenantPath(server, rest) });
}

/** Asks for an answer of that shape, which may have more fields. Fails with ServerRefusal. */
export async function askServer<Shape extends TSchema>(
  server: Server,
  request: {
    readonly method: "POST" | "DELETE";
    readonly path: string;
    /** Undefined for none. */
    readonly body: unknown;
    readonly answer: Shape;
  },
): Promise<Static<Shape>> {
  const { method, path } = request;
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const sent = { method, path, body };
  const { repetition } = server;
  const answer = await (repetition === undefined
    ? send(server, sent)
    : sendRepeatedly(server, sent, repetition));
  if (answer.kind === "none") throw new ServerRefusal(answer.message);
  if (answer.status !== 200) throw new ServerRefusal(withFlags(answer.problem));
  if (Check(request.answer, answer.body)) return answer.body;
  throw new ServerRefusal(`${server.url}${path}: the answer is not one of Pemba`);
}

/** Names flags in place of fields. Only the commands that have these flags get such messages. */
function withFlags(message: string): string {
  return message
    .replace(sendData, `${sendData}, which the file of \`--context FILE\` has as \`data\``)
    .replace(/(?<=^ERROR_CODE_\w+: )expected_head(?=: )/, "--expected-head");
}
