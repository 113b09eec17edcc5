import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import type { TestContext } from "node:test";

const ownMain = join(import.meta.dirname, "../../src/main.ts");

/** A server ends with the process of its test, which may be killed before it has ended it. */
const endWithTest = `data:text/javascript,${encodeURIComponent(
  'process.stdin.on("end", () => process.exit()).resume().unref();',
)}`;

/** What is given to a run of `pemba` besides its words. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** The program, when it is that of another checkout. */
  readonly main?: string;
  /** The Node that runs it, when it is not the one that runs the test. */
  readonly node?: string;
  /** Called with what it writes to standard output, from the start. */
  readonly onOutput?: (text: string) => void;
}

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  /** How it ended, once it has. */
  readonly finished: Promise<Finished>;
}

/** Runs `pemba` to its end. */
export async function runPemba(
  words: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  const { process: child, finished } = startPemba(words, options);
  child.stdin?.end(options.input ?? "");
  return await finished;
}

export interface Addresses {
  /** Of REST; empty when it is switched off. */
  readonly url: string;
  /** Of gRPC, host and port. */
  readonly grpc: string;
}

/** Starts `pemba serve` on free ports; resolves when it is ready. It ends with the test. */
export async function servePemba(
  t: TestContext,
  words: readonly string[] = [],
  options: RunOptions = {},
): Promise<Running & Addresses> {
  const serving = startServing(words, options);
  t.after(() => serving.process.kill("SIGKILL"));
  return { ...serving, ...(await serving.addresses) };
}

/**
 * The same without a test to end it. `listening` resolves as soon as it listens, `addresses` when it
 * is ready; both reject when it ends before.
 */
export function startServing(
  words: readonly string[],
  options: RunOptions = {},
): Running & {
  readonly listening: Promise<Addresses>;
  readonly addresses: Promise<Addresses>;
} {
  const ofWorkers = knowsWorkers(options) ? oneWorker : [];
  const flags = flagsOfServer([...ofWorkers, ...words]);
  const { process: child, finished } = startPemba(["serve", ...flags], options, [
    `--import=${endWithTest}`,
  ]);
  const ended = finished.then(({ status, stdout, stderr }) => {
    throw new Error(`pemba serve ended with ${status}: ${stdout}${stderr}`);
  });
  const hasRest = !words.includes("--http-enabled=false");
  const listening = Promise.race([listeningAddresses(child, { hasRest }), ended]);
  const addresses = Promise.race([listeningAddresses(child, { hasRest, isReady: true }), ended]);
  // A test may ask for one of them alone.
  for (const promise of [listening, addresses]) promise.catch(() => undefined);
  return { process: child, finished, listening, addresses };
}

/** The flags of a server of a test: on free ports, and as fast as it can, unless `words` say otherwise. */
export function flagsOfServer(words: readonly string[]): readonly string[] {
  const ports = ["--http-port", "--grpc-port", "--profiler-port"].flatMap((flag) =>
    words.some((word) => word.startsWith(flag)) ? [] : [flag, "0"],
  );
  // Before the given words, of which the last counts.
  return ["--server-host", "127.0.0.1", "--server-rate-limit", "1000000", ...ports, ...words];
}

/** Most tests are about one process. */
const oneWorker = ["--server-workers", "1"];

/** The program of another checkout may be older than the key. */
function knowsWorkers({ main = ownMain }: RunOptions): boolean {
  // That of a package is compiled.
  const keys = readFileSync(join(dirname(main), `config/keys/server${extname(main)}`), "utf8");
  return keys.includes('"server.workers"');
}

/** The variables of this process without what it, or its user, has set for commands of `pemba`. */
export function commandEnvironment(): NodeJS.ProcessEnv {
  const names = /^(SERVICE_|PEMBA_(URL|TOKEN|TENANT|CONTEXT)$)/;
  const others = Object.entries(process.env).filter(([name]) => !names.test(name));
  return {
    ...Object.fromEntries(others),
    XDG_CONFIG_HOME: join(tmpdir(), "pemba-without-contexts"),
  };
}

/** Starts `pemba` and does not wait. */
export function startPemba(
  words: readonly string[],
  { env = {}, cwd, main = ownMain, node = process.execPath, onOutput }: RunOptions,
  flagsOfNode: readonly string[] = [],
): Running {
  const child = spawn(node, [...flagsOfNode, main, ...words], {
    env: { ...commandEnvironment(), ...env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(cwd !== undefined && { cwd }),
  });
  if (onOutput !== undefined) child.stdout?.on("data", (chunk: Buffer) => onOutput(String(chunk)));
  return { process: child, finished: outcomeOf(child) };
}

async function outcomeOf(child: ChildProcess): Promise<Finished> {
  const stdout = textOf(child, "stdout");
  const stderr = textOf(child, "stderr");
  await once(child, "close");
  return { status: child.exitCode, stdout: stdout(), stderr: stderr() };
}

function textOf(child: ChildProcess, stream: "stdout" | "stderr"): () => string {
  const chunks: Buffer[] = [];
  child[stream]?.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

async function listeningAddresses(
  child: ChildProcess,
  { hasRest, isReady = false }: { readonly hasRest: boolean; readonly isReady?: boolean },
): Promise<Addresses> {
  return await new Promise((resolve) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const url = /rest listens on (https?:[^\s"]+)/.exec(text)?.[1];
      const grpc = /grpc listens on ([^\s"]+)/.exec(text)?.[1];
      const isWhole = grpc !== undefined && (url !== undefined || !hasRest);
      if (isWhole && (!isReady || /(: |"msg":")ready\b/.test(text)))
        resolve({ url: url ?? "", grpc });
    });
  });
}
