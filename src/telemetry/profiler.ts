import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";

import { pprofOf, type Samples } from "./pprof.ts";
import { profileCpu, profileHeap } from "./profile.ts";

export interface ProfilerOptions {
  /** Empty: all interfaces. */
  readonly host: string;
  readonly port: number;
  /** The command line of the process, without secrets. */
  readonly commandLine: readonly string[];
  /** Called when a profile begins. */
  readonly onProfile: (kind: string, seconds: number) => void;
}

/** Serves profiles of processor time and memory. */
export interface ProfilerServer {
  /** The address that it listens on. */
  readonly address: AddressInfo;
  /** Stops listening and ends a running profile. */
  close(): Promise<void>;
}

type Taken = (milliseconds: number, signal: AbortSignal) => Promise<Samples>;

/** The profiles by their name in the path, with their default duration in seconds. */
const profiles: ReadonlyMap<string, { readonly seconds: number; readonly take: Taken }> = new Map([
  ["profile", { seconds: 30, take: profileCpu }],
  ["heap", { seconds: 10, take: async (time, signal) => await profileHeap("heap", time, signal) }],
  [
    "allocs",
    { seconds: 10, take: async (time, signal) => await profileHeap("allocs", time, signal) },
  ],
]);

const prefix = "/debug/pprof/";
const secondsMax = 300;

const index = `Profiles of this process, for \`go tool pprof http://HOST:PORT${prefix}profile\`

${prefix}profile?seconds=30  where the processor spends this time
${prefix}heap?seconds=10     memory that is allocated in this time and still in use at its end
${prefix}allocs?seconds=10   memory that is allocated in this time
${prefix}cmdline             the command line of the process

One profile is taken at a time, of at most ${secondsMax} seconds.
`;

/** Starts to listen. Fails if that is not possible. */
export async function openProfiler(options: ProfilerOptions): Promise<ProfilerServer> {
  const isTaking = { now: false };
  const server = createServer((request, response) => {
    answer(request, response, options, isTaking).catch((error: unknown) =>
      refuse(response, 500, `the profile failed: ${String(error)}`),
    );
  });
  await listening(server, options);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address is listened on");
  return {
    address,
    close: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
  };
}

async function listening(server: Server, { host, port }: ProfilerOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ port, ...(host !== "" && { host }) }, resolve);
  await promise;
  server.off("error", reject);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { commandLine, onProfile, host }: ProfilerOptions,
  isTaking: { now: boolean },
): Promise<void> {
  if (!isOurs(request.headers.host, host)) {
    return refuse(
      response,
      403,
      "expected an IP address, localhost or `profiler.host` as the host",
    );
  }
  const url = new URL(request.url ?? "/", "http://profiler");
  const name = url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length) : undefined;
  const profile = profiles.get(name ?? "");
  if (request.method !== "GET") return refuse(response, 405, "expected the method GET");
  if (name === "") return void response.end(index);
  if (name === "cmdline") return void response.end(commandLine.join("\0"));
  if (profile === undefined) return refuse(response, 404, `no such path, see ${prefix}`);
  const seconds = Number(url.searchParams.get("seconds") ?? profile.seconds);
  if (!(seconds > 0 && seconds <= secondsMax)) {
    return refuse(response, 400, `seconds: expected a number above 0, up to ${secondsMax}`);
  }
  if (isTaking.now) return refuse(response, 409, "another profile is being taken");
  isTaking.now = true;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    onProfile(name ?? "", seconds);
    const bytes = await pprofOf(await profile.take(seconds * 1_000, gone.signal));
    response.setHeader("content-type", "application/octet-stream");
    response.setHeader("content-disposition", `attachment; filename="${name}"`);
    response.end(bytes);
  } finally {
    isTaking.now = false;
  }
}

/**
 * Whether the host is an address or a known name. A web page can point a name of its own at this
 * machine, but not an address.
 */
function isOurs(given: string | undefined, host: string): boolean {
  const name = given === undefined ? undefined : URL.parse(`http://${given}`)?.hostname;
  if (name === undefined) return false;
  const isAddress = isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
  return isAddress || name === "localhost" || name === host.toLowerCase();
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return;
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${message}\n`);
}
