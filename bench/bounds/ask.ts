import { Pool } from "undici";

/** What came of a request. */
export type Outcome =
  | { readonly kind: "answered"; readonly ms: number; readonly body: unknown }
  /** By the server, with the name of its error; `ms` until then. */
  | { readonly kind: "refused"; readonly ms: number; readonly status: number; readonly why: string }
  /** The client left when its time was over, or the connection broke. */
  | { readonly kind: "unanswered"; readonly ms: number; readonly why: string };

/** Asks one server over REST, as a client that leaves after a time. */
export interface Asker {
  readonly post: (path: string, body: object) => Promise<Outcome>;
  /** Throws unless the answer is a 200. */
  readonly get: (path: string, signal: AbortSignal) => Promise<void>;
  /** As `get`. */
  readonly check: (path: string, body: object, signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How long a client waits. */
const patienceMs = 10_000;

/** More than are asked at the same time, so that none waits for another one on the way. */
const connections = 256;

const headers = { "content-type": "application/json" };

export function openAsker(url: string): Asker {
  const pool = new Pool(url, { connections });
  const answered = async (
    method: "GET" | "POST",
    path: string,
    { body, signal }: { readonly body?: string; readonly signal: AbortSignal },
  ): Promise<{ readonly status: number; readonly text: string }> => {
    const asked = { method, path, signal, ...(body !== undefined && { body, headers }) };
    const { statusCode, body: answer } = await pool.request(asked);
    return { status: statusCode, text: await answer.text() };
  };
  const expect200 = async (...asked: Parameters<typeof answered>): Promise<void> => {
    const { status, text } = await answered(...asked);
    if (status !== 200) throw new Error(`${status}: ${text}`);
  };
  return {
    post: async (path, body) => {
      const started = performance.now();
      const spent = (): number => performance.now() - started;
      const signal = AbortSignal.timeout(patienceMs);
      try {
        const { status, text } = await answered("POST", path, {
          body: JSON.stringify(body),
          signal,
        });
        const ms = spent();
        if (status === 200) return { kind: "answered", ms, body: JSON.parse(text) };
        return { kind: "refused", ms, status, why: codeIn(text) };
      } catch (error) {
        const why = signal.aborted ? "the client left" : String(error);
        return { kind: "unanswered", ms: spent(), why };
      }
    },
    get: async (path, signal) => await expect200("GET", path, { signal }),
    check: async (path, body, signal) =>
      await expect200("POST", path, { body: JSON.stringify(body), signal }),
    close: async () => await pool.destroy(),
  };
}

/** The name of the error, with which the message of an answer begins. */
function codeIn(text: string): string {
  return /"message":"([A-Z_]+)/.exec(text)?.[1] ?? text.slice(0, 80);
}
