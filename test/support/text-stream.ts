import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

/** A reply whose body comes bit by bit. */
export interface StreamReply {
  readonly status: number;
  readonly type: string;
  /** The next piece of the body that ends with the separator, without that; undefined at its end. */
  next(): Promise<string | undefined>;
  /** The next piece as JSON, which must be there. */
  json(): Promise<unknown>;
  /** All of the body as JSON. */
  whole(): Promise<unknown>;
  /** Breaks the connection off. */
  leave(): void;
}

/** Sends a request to a server that listens, and resolves when the head of the reply is there. */
export async function openStream(
  url: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: object;
    /** What ends a piece; a line without it. */
    readonly separator?: string;
  } = {},
): Promise<StreamReply> {
  const { method = "GET", headers = {}, body, separator = "\n" } = options;
  // A connection of its own, so that nothing but this client keeps it open.
  const sent = request(url, { method, headers, agent: false });
  if (body !== undefined) {
    const json = JSON.stringify(body);
    sent.setHeader("content-length", Buffer.byteLength(json)).write(json);
  }
  sent.end();
  const [reply] = (await once(sent, "response")) as [IncomingMessage];
  const pieces = piecesOf(reply, separator);
  const next = async (): Promise<string | undefined> => {
    const result = await pieces.next();
    return result.done === true ? undefined : result.value;
  };
  return {
    status: reply.statusCode ?? 0,
    type: reply.headers["content-type"] ?? "",
    next,
    json: async () => {
      const piece = await next();
      return piece === undefined ? assert.fail("the reply has ended") : JSON.parse(piece);
    },
    whole: async () => JSON.parse(await text(reply)),
    leave: () => reply.destroy(),
  };
}

async function* piecesOf(reply: IncomingMessage, separator: string): AsyncGenerator<string> {
  reply.setEncoding("utf8");
  // Chunks since the last separator: a long piece is put together once, when it is whole.
  let begun: string[] = [];
  for await (const chunk of reply) {
    const text = String(chunk);
    const before = begun.at(-1) ?? "";
    const isEnd = `${before.slice(before.length - separator.length + 1)}${text}`.includes(
      separator,
    );
    begun.push(text);
    if (!isEnd) continue;
    const pieces = begun.join("").split(separator);
    begun = [pieces.pop() ?? ""];
    yield* pieces;
  }
  assert.equal(begun.join(""), "", "the reply ends in the middle of a piece");
}
