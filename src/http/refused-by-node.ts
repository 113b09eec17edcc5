import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import type { ConnectionError } from "fastify";

import { PembaError } from "../base/error.ts";
import { statusOf } from "../base/status.ts";
import { requestIdHeader, requestIdOf } from "../telemetry/request-id.ts";
import type { HttpApp } from "./app.ts";
import { errorBody, isTransient, retryAfterSeconds } from "./error-body.ts";
import type { KnownPaths } from "./unknown-path.ts";

/** Answers and closes a connection whose request is not HTTP, too slow or too large. */
export function answerUnreadable(
  paths: Pick<KnownPaths, "refusalOf">,
): (error: ConnectionError, socket: Socket) => void {
  return (error, socket) => {
    // A client that is gone gets no answer. An answer within another one could not be read.
    const isLost = isBroken(error) || socket.destroyed || !socket.writable;
    if (isLost || hasBegunAnswer(socket)) {
      socket.destroy();
      return;
    }
    const line = requestLineOf(error);
    const refusal = line && paths.refusalOf(line.method, line.path);
    const [status, fault] =
      refusal === undefined
        ? unreadable(error.code)
        : [statusOf[refusal.error.kind].http, refusal.error];
    writeRefusal(socket, { status, fault, allow: refusal?.allow });
    socket.destroySoon();
  };
}

/**
 * Whether it is an error of the connection, and not of what was sent over it. An answer would never go out if the
 * encryption is broken, and the connection would wait for that.
 */
function isBroken({ code }: ConnectionError): boolean {
  return !/^(HPE|ERR_HTTP)_/.test(code);
}

/** Whether part of an answer was sent, of which Node keeps the present one at its connection. */
function hasBegunAnswer(socket: Socket): boolean {
  const answer: unknown = Reflect.get(socket, "_httpMessage");
  return answer instanceof ServerResponse && answer.headersSent;
}

/** Writes the whole of an answer to a connection on which none was begun. */
function writeRefusal(
  socket: Socket,
  {
    status,
    fault,
    allow,
  }: { readonly status: number; readonly fault: PembaError; readonly allow?: string | undefined },
): void {
  const { headers, body } = answerOf(fault, undefined);
  const all = {
    ...headers,
    ...(allow !== undefined && { allow }),
    ...(isTransient(fault) && { "retry-after": retryAfterSeconds }),
    connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
  socket.write(head + body);
}

/** How long a client has to read why its connection is refused. */
const lingerMs = 1_000;

/** Answers on a connection of which nothing is read, and ends it. */
export function refuseConnection(socket: Socket, fault: PembaError): void {
  socket.on("error", () => socket.destroy());
  writeRefusal(socket, { status: statusOf[fault.kind].http, fault });
  socket.end();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

const requestLine =
  /^(?<method>[!#$%&'*+.^_`|~0-9A-Za-z-]+) (?<path>\/[^ ?]*)[^ ]* HTTP\/1\.[01]\r?\n/;

/**
 * The method and path of a request with a method that Node does not know, if its packet begins with
 * one.
 */
function requestLineOf(
  error: ConnectionError,
): { readonly method: string; readonly path: string } | undefined {
  const packet: unknown = error.rawPacket;
  if (error.code !== "HPE_INVALID_METHOD" || !(packet instanceof Uint8Array)) return undefined;
  const { method, path } = requestLine.exec(Buffer.from(packet).toString("latin1"))?.groups ?? {};
  if (method === undefined || path === undefined) return undefined;
  return error.bytesParsed <= method.length ? { method, path } : undefined;
}

/** Refuses requests with an error body that Node would otherwise refuse without one. */
export function answerForNode(app: HttpApp, paths: Pick<KnownPaths, "refusalOf">): void {
  app.server.on("connect", ({ method = "", url = "", socket }: IncomingMessage) => {
    // Node leaves such a connection to its listener, with its errors.
    socket.on("error", () => socket.destroy());
    if (hasBegunAnswer(socket)) {
      socket.destroy();
      return;
    }
    const { error: fault, allow } = paths.refusalOf(method, url.split("?", 1)[0] ?? "");
    writeRefusal(socket, { status: statusOf[fault.kind].http, fault, allow });
    socket.destroySoon();
  });
  app.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const message = "expect: is not known, expected 100-continue";
    const fault = new PembaError("VALIDATION", message);
    const { headers, body } = answerOf(fault, request.headers[requestIdHeader]);
    response.writeHead(417, headers).end(body);
  });
  app.addHook("onRequest", (request, _reply, done) => {
    const { httpVersion, headers } = request.raw;
    const isLacking = httpVersion === "1.1" && headers.host === undefined;
    done(isLacking ? new PembaError("VALIDATION", "host: is missing") : undefined);
  });
}

function unreadable(code: string): readonly [status: number, fault: PembaError] {
  const fault = (message: string): PembaError => new PembaError("VALIDATION", message);
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return [431, fault("headers: are too large, expected at most 16 KiB")];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, fault("the request was not received in time")];
    default:
      return [400, fault(`the request is not valid HTTP (${code})`)];
  }
}

function answerOf(fault: PembaError, requestId: string | readonly string[] | undefined) {
  const body = JSON.stringify(errorBody(fault));
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    [requestIdHeader]: requestIdOf(requestId),
  };
  return { headers, body };
}
