import { Readable } from "node:stream";

import type { FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";

import { cancelled, errorOf, type PembaError } from "../base/error.ts";
import { clientGone } from "./client-gone.ts";
import { lateness } from "./deadline.ts";
import { errorBody } from "./error-body.ts";
import { noteFailure } from "./error-reply.ts";
import { asWorkOf } from "./observe.ts";

/** The format of a stream of items. */
export interface StreamFormat<T> {
  readonly contentType: string;
  readonly item: (item: T) => string;
  /** The last item of a failed stream. */
  readonly error: (error: PembaError) => string;
  /** Sent while there are no items, if the format supports it. */
  readonly heartbeat?: string;
}

/** One JSON document per line. */
export const jsonLines: StreamFormat<object> = {
  contentType: "application/x-ndjson",
  item: (item) => `${JSON.stringify(item)}\n`,
  error: (error) => `${JSON.stringify({ error: errorBody(error) })}\n`,
};

/** The description of a stream: the shape of an item, by content type. */
export function streamAnswer<T extends TSchema>(
  item: T,
  formats: readonly { readonly contentType: string }[],
): { readonly content: Readonly<Record<string, { readonly schema: T }>> } {
  return {
    content: Object.fromEntries(formats.map(({ contentType }) => [contentType, { schema: item }])),
  };
}

/**
 * In milliseconds. Proxies drop a connection that is silent for a minute, and a failed write shows
 * that the client has left.
 */
const heartbeatMs = 15_000;

/**
 * Sends the items of `open`, which come in groups, as fast as the client reads them. An error before `open` resolves
 * becomes an ordinary reply. A later error becomes the last item. The signal is aborted when the
 * client leaves: no more items are read, and `open` and its items should stop waiting.
 */
export async function replyWithStream<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  stream: {
    readonly format: StreamFormat<T>;
    readonly open: (signal: AbortSignal) => Promise<AsyncIterable<readonly T[]>>;
  },
): Promise<FastifyReply> {
  const signal = clientGone(reply);
  const groups = await stream.open(signal);
  // The time of a request may be over, too, and the error sent.
  if (signal.aborted) throw cancelled(undefined);
  const chunks = chunksOf(reply, asWorkOf(request, groups), stream.format);
  const body = Readable.from(withHead(reply, chunks), { objectMode: false });
  reply.header("cache-control", "no-store").type(stream.format.contentType);
  return await reply.send(body);
}

/** Sends the head at once, because a client may wait for it before there is an item. */
async function* withHead(
  reply: FastifyReply,
  chunks: AsyncIterable<string>,
): AsyncGenerator<string> {
  reply.raw.flushHeaders();
  yield* chunks;
}

async function* chunksOf<T>(
  reply: FastifyReply,
  groups: AsyncIterable<readonly T[]>,
  { item, error, heartbeat }: StreamFormat<T>,
): AsyncGenerator<string> {
  try {
    const texts = joined(groups, item);
    yield* heartbeat === undefined ? texts : withHeartbeat(texts, heartbeat);
    const late = lateness(reply);
    if (late !== undefined) throw late;
  } catch (thrown) {
    const known = lateness(reply) ?? errorOf(thrown);
    noteFailure(known, reply);
    yield error(known);
  }
}

async function* joined<T>(
  groups: AsyncIterable<readonly T[]>,
  textOf: (item: T) => string,
): AsyncGenerator<string> {
  for await (const items of groups) yield items.map(textOf).join("");
}

async function* withHeartbeat(texts: AsyncGenerator<string>, beat: string): AsyncGenerator<string> {
  try {
    for (;;) {
      const next = new AwaitedText(texts.next());
      let result = await next.within(heartbeatMs);
      while (result === undefined) {
        yield beat;
        result = await next.within(heartbeatMs);
      }
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    await texts.return(undefined);
  }
}

/** A text that may come much later. However often it is waited for, nothing is kept of the waits before. */
class AwaitedText {
  #wait = Promise.withResolvers<(() => IteratorResult<string>) | undefined>();

  constructor(text: Promise<IteratorResult<string>>) {
    text.then(
      (result) => this.#wait.resolve(() => result),
      (error: unknown) =>
        this.#wait.resolve(() => {
          throw error;
        }),
    );
  }

  /** The text, or undefined if it does not come in so many milliseconds. Fails as it does. */
  async within(milliseconds: number): Promise<IteratorResult<string> | undefined> {
    const timer = setTimeout(() => {
      const { resolve } = this.#wait;
      this.#wait = Promise.withResolvers();
      resolve(undefined);
    }, milliseconds);
    const result = await this.#wait.promise;
    clearTimeout(timer);
    return result?.();
  }
}
