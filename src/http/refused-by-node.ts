import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import type { ConnectionError } from "fastify";

import { PembaError } from "../base/error.ts";
import { requestIdHeader, requestIdOf } from "../telemetry/request-id.ts";
import type { HttpApp } from "./app.ts";
import { errorBody } from "./error-reply.ts";

/** What is no HTTP, or takes too long or too much to be read, ends its connection with an answer. */
export function answerUnreadable({ code }: ConnectionError, socket: Socket): void {
  // Whoever is gone hears nothing.
  if (code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, sentence] = unreadable(code);
  const { headers, body } = answerOf(sentence, undefined);
  const lines = Object.entries({ ...headers, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
  socket.write(head + body);
  socket.destroySoon();
}

/** Has requests that Node would refuse without a word refused with the body of an error. */
export function answerForNode(app: HttpApp): void {
  app.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const sentence = "expect: is not known, expected 100-continue";
    const { headers, body } = answerOf(sentence, request.headers[requestIdHeader]);
    response.writeHead(417, headers).end(body);
  });
  app.addHook("onRequest", (request, _reply, done) => {
    const { httpVersion, headers } = request.raw;
    const isLacking = httpVersion === "1.1" && headers.host === undefined;
    done(isLacking ? new PembaError("VALIDATION", "host: is missing") : undefined);
  });
}

function unreadable(code: string): readonly [status: number, sentence: string] {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return [431, "headers: are too large, expected at most 16 KiB"];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "the request did not come in time"];
    default:
      return [400, `the request is no HTTP that can be read (${code})`];
  }
}

function answerOf(sentence: string, requestId: string | readonly string[] | undefined) {
  const body = JSON.stringify(errorBody(new PembaError("VALIDATION", sentence)));
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    [requestIdHeader]: requestIdOf(requestId),
  };
  return { headers, body };
}
