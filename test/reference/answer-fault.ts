import { once } from "node:events";
import { type Agent, type IncomingMessage, request as send } from "node:http";
import { text } from "node:stream/consumers";

import type { FuzzRequest } from "./arbitrary-request.ts";
import type { Description } from "./description.ts";

/** After so many milliseconds without an answer a request is taken to hang. */
const patience = 30_000;

const asError =
  /^\{("error":\{)?"code":\d+,"message":"ERROR_CODE_[A-Z_]+: .*","details":\[.*\]\}{1,2}$/s;

/** What the description permits and the service refuses: rules that a schema cannot tell. */
const untold =
  /names no type, id, relation or attribute|is not an argument of|has another value at|nothing would be (?:changed|deleted)|preconditions\[\d+\]\.\w+: (is missing|is not true|belongs to|stands beside|another state)|since the server has no clusters/;

/** What came back. */
export interface Came {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Sends a request to a server on a port of this machine; of a watch, which has no end, the head. */
export async function ask(
  { method, path, contentType, body }: FuzzRequest,
  { port, agent }: { readonly port: number; readonly agent: Agent },
): Promise<Came> {
  const signal = AbortSignal.timeout(patience);
  const headers = { "content-type": contentType, "content-length": body.length };
  const sent = send({ host: "127.0.0.1", port, agent, method, path, headers, signal });
  sent.end(body);
  const [reply] = (await once(sent, "response")) as [IncomingMessage];
  const type = reply.headers["content-type"] ?? "";
  const status = reply.statusCode ?? 0;
  if (status === 200 && path.includes("/watch")) {
    reply.destroy();
    return { status, contentType: "", text: "" };
  }
  return { status, contentType: type, text: await text(reply) };
}

/** What is wrong with an answer; "" when it is as it is described. */
export function faultIn(description: Description, request: FuzzRequest, came: Came): string {
  const { operation, method, isValid } = request;
  if (came.status >= 500) return "is a fault of the server";
  if (request.path.includes("/watch") && came.status === 200) return "";
  if (method === "HEAD") return came.text === "" ? "" : "has a body";
  const isDescribed = method === operation.method && !request.isElsewhere;
  if (!isDescribed && came.status < 400) return "";
  const isLines = came.contentType.includes("ndjson");
  const body: unknown = JSON.parse(isLines ? came.text.split("\n", 1)[0] || "{}" : came.text);
  if (!isDescribed) return asError.test(came.text) ? "" : "is no error body";
  const { status, contentType } = came;
  const isEmptyStream = isLines && came.text === "";
  const fault = isEmptyStream
    ? ""
    : description.answerFault(operation, { status, contentType, body });
  if (fault !== "" || !isValid) return fault;
  return came.text.includes("ERROR_CODE_VALIDATION") && !untold.test(came.text)
    ? "is refused, though the description permits it"
    : "";
}
