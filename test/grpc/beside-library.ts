/** What comes back of a call, byte by byte, from our server and from one of the library. */
import { once } from "node:events";
import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";

import { type Server, ServerCredentials } from "@grpc/grpc-js";

import { callOn, openSession } from "../intake/wire.ts";

/** What a client sends in a call. */
export interface SentCall {
  readonly path: string;
  /** Each goes out in a frame of its own. */
  readonly frames: readonly Buffer[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the client may still send something. */
  readonly isOpen?: boolean;
}

/** Connections to our server and to one of the library. */
export interface BothServers {
  readonly ours: ClientHttp2Session;
  readonly theirs: ClientHttp2Session;
  /** Ends the connections and the server of the library. */
  close(): void;
}

/** `port` is that of our server. */
export async function openBoth(port: number, library: Server): Promise<BothServers> {
  const ours = await openSession(port);
  const theirs = await openSession(await listenOn(library));
  return {
    ours,
    theirs,
    close: () => {
      ours.close();
      theirs.close();
      library.forceShutdown();
    },
  };
}

async function listenOn(library: Server): Promise<number> {
  return await new Promise<number>((resolve, reject) => {
    library.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
}

/** What comes back of a call, without what is another one each time. */
export async function told(
  session: ClientHttp2Session,
  { path, frames, headers = {}, isOpen = false }: SentCall,
): Promise<object> {
  const stream = callOn(session, { path, headers });
  const heads: IncomingHttpHeaders[] = [];
  const note = (received: IncomingHttpHeaders): void => {
    const { date: _date, "x-request-id": _id, ...others } = received;
    heads.push({ ...others });
  };
  stream.on("response", note);
  stream.on("trailers", note);
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  for (const frame of frames) {
    await new Promise<void>((resolve) => stream.write(frame, () => resolve()));
  }
  if (isOpen) stream.once("end", () => stream.end());
  else stream.end();
  await once(stream, "close");
  return { heads, body: Buffer.concat(chunks).toString("hex"), code: stream.rstCode };
}
