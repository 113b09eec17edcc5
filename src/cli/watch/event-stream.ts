import type { Static } from "typebox";
import { Check } from "typebox/schema";

import { problemOf, refusalFrom } from "../client/advice.ts";
import { ServerRefusal } from "../client/ask.ts";
import { fieldOf, serverMessageOf } from "../client/fields.ts";
import {
  fetchOptions,
  isPassing,
  isPassingStatus,
  type Server,
  tenantPath,
} from "../client/send.ts";
import { linesOf } from "../lines.ts";
import { messageOf } from "../output.ts";
import { ChangesAnswer } from "./change-answer.ts";

/** The stream has ended in a way that a new one may go on from. */
export class BrokenStream extends Error {
  override readonly name = "BrokenStream";
}

/** What a stream says: a state, and the changes that led to it, or none. */
export interface StreamEvent {
  readonly snapToken: string;
  readonly message: Static<typeof ChangesAnswer> | undefined;
}

/** In milliseconds. A server shows every quarter of a minute that it is there. */
const silenceMax = 60_000;

/** A message has a megabyte, unless a single fact is larger, and no fact is as large as this. */
const maxLineBytes = 16 * 1024 * 1024;

/** How gRPC numbers UNAVAILABLE. */
const unavailable = 14;

/**
 * The events of one connection, the first of which is the state that it begins at. `after` is a snap
 * token, or "" for the present state. Fails with BrokenStream, with ServerRefusal, or as `signal` says.
 */
export async function* eventsOf(
  server: Server,
  after: string,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const silence = new AbortController();
  const timer = setTimeout(() => {
    silence.abort(new BrokenStream(`nothing came for ${silenceMax / 1_000} s`));
  }, silenceMax);
  try {
    const ended = AbortSignal.any([signal, silence.signal]);
    for await (const raw of parsedEvents(await open(server, after, ended), timer)) {
      const event = eventOf(raw);
      if (event !== undefined) yield event;
    }
  } catch (error) {
    if (error instanceof ServerRefusal || error instanceof BrokenStream) throw error;
    throw isPassing(error) ? new BrokenStream(messageOf(error), { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
  throw new BrokenStream("the server has ended the connection");
}

async function open(
  server: Server,
  after: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const path = tenantPath(server, "watch");
  const body = JSON.stringify({ snap_token: after });
  const { headers, ...options } = fetchOptions(server, { method: "POST", path, body });
  const url = `${server.url}${path}`;
  const response = await fetch(url, {
    ...options,
    headers: { ...headers, accept: "text/event-stream" },
    signal,
  }).catch((error: unknown): never => {
    signal.throwIfAborted();
    const problem = `${url}: ${problemOf(error, url)}`;
    throw isPassing(error) ? new BrokenStream(problem) : new ServerRefusal(problem);
  });
  if (response.status === 200 && response.body !== null) return response.body;
  const text = await response.text();
  const message = refusalFrom(url, response.status, jsonOf(text));
  throw isPassingStatus(response.status) ? new BrokenStream(message) : new ServerRefusal(message);
}

/** The fields of a server-sent event. */
interface RawEvent {
  readonly id: string;
  /** "" if it has none. */
  readonly data: string;
}

/** Comments and other fields are left out. Every line begins the time of silence anew. */
async function* parsedEvents(
  chunks: AsyncIterable<Uint8Array>,
  silence: NodeJS.Timeout,
): AsyncGenerator<RawEvent> {
  let id = "";
  let data = "";
  for await (const line of linesOf(chunks, maxLineBytes)) {
    silence.refresh();
    if (line.kind === "overlong") {
      throw new ServerRefusal(`a change is longer than ${maxLineBytes} bytes`);
    }
    const text = new TextDecoder().decode(line.bytes);
    if (text === "") {
      yield { id, data };
      data = "";
    } else if (text.startsWith("id: ")) id = text.slice("id: ".length);
    else if (text.startsWith("data: ")) data = text.slice("data: ".length);
  }
}

function eventOf({ id, data }: RawEvent): StreamEvent | undefined {
  // A blank line that ends a comment.
  if (id === "" && data === "") return undefined;
  if (data === "") return { snapToken: id, message: undefined };
  const json = jsonOf(data);
  const error = fieldOf(json, "error");
  if (error !== undefined) {
    const message = serverMessageOf(error) ?? "the stream has failed";
    throw fieldOf(error, "code") === unavailable
      ? new BrokenStream(message)
      : new ServerRefusal(message);
  }
  if (Check(ChangesAnswer, json)) return { snapToken: json.snap_token, message: json };
  throw new ServerRefusal("an event of the stream is not one of Pemba");
}

/** Undefined if the text is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
