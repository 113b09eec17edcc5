/** Three servers with a cluster each, and two instances over them, all of which can be killed. */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import { must } from "../../src/base/assert.ts";
import { pause } from "../../src/base/pause.ts";
import { migrateUp } from "../../src/store/postgres/migrate.ts";
import type { Dice } from "../support/dice.ts";
import { freePorts } from "../support/free-ports.ts";
import { connectGrpc, type GrpcClient } from "../support/grpc.ts";
import { type Running, startServing } from "../support/pemba.ts";
import { type RestartableServer, startRestartablePostgres } from "../support/postgres-binaries.ts";
import { serverSettings } from "../support/postgres-settings.ts";
import { within } from "./within.ts";

export const clusterNames = ["a", "b", "c"] as const;

/** What is acknowledged is in the files, so that it outlives the processes of the server. */
const settings = [...serverSettings, "synchronous_commit=on"];

/** Far longer than an instance may take for one request. */
const answerMaxMs = 30_000;

/** Far longer than a tenant may be refused: what is killed is back within seconds. */
const patienceMs = 60_000;

/** A client waits for so long before it repeats a request. */
const retryAfterMs = 20;

type Unary<I extends DescMessage, O extends DescMessage> = DescMethod & {
  readonly input: I;
  readonly output: O;
  readonly methodKind: "unary";
};

/** One `pemba serve`, which is killed and started again at the same address. */
interface Instance {
  running: Running;
  client: GrpcClient;
}

/** What came of a request that was repeated. */
export interface Answered<T> {
  /** Undefined if it is a code. */
  readonly answer: T | undefined;
  readonly code: string | undefined;
  /** What was told with the code. */
  readonly message: string;
  /** With more than one, an earlier attempt may be made late. */
  readonly tries: number;
}

export class Fleet {
  readonly servers: readonly RestartableServer[];
  readonly #ports: readonly number[];
  readonly #instances: Instance[] = [];
  readonly #over = new AbortController();

  private constructor(servers: readonly RestartableServer[], ports: readonly number[]) {
    this.servers = servers;
    this.#ports = ports;
  }

  static async start(): Promise<Fleet> {
    const servers: RestartableServer[] = [];
    const fleet = new Fleet(servers, await freePorts(2));
    try {
      for (const name of clusterNames) {
        const starting = startRestartablePostgres(settings, "own");
        servers.push(await within(`the server of ${name} starts`, starting));
      }
      for (const { url } of servers) await migrateUp(url);
      for (const index of fleet.#ports.keys()) fleet.#instances.push(await fleet.#serve(index));
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  get urls(): readonly string[] {
    return this.servers.map(({ url }) => url);
  }

  /** The variables of an instance, and of a command that moves tenants. */
  get env(): Readonly<Record<string, string>> {
    const clusters = this.urls.map((uri, index) => ({ name: clusterNames[index], uri }));
    return {
      SERVICE_DATABASE_ENGINE: "postgres",
      SERVICE_DATABASE_CLUSTERS: JSON.stringify(clusters),
      SERVICE_DATABASE_READ_TIMEOUT: "5s",
      SERVICE_DATABASE_WRITE_TIMEOUT: "5s",
      SERVICE_SERVICE_WATCH_ENABLED: "true",
    };
  }

  /** A client of one of the instances. */
  one({ upTo }: Dice): GrpcClient {
    return must(this.#instances[upTo(this.#instances.length)], "there are two").client;
  }

  /** Does work with the client of each instance, one after the other. */
  async atEach(work: (instance: Pick<Fleet, "ask">) => Promise<void>): Promise<void> {
    for (const index of this.#instances.keys()) {
      const deadline = (): number => Date.now() + answerMaxMs;
      const client = (): GrpcClient => must(this.#instances[index], "there are two").client;
      await work({
        ask: async (_draws, method, request) =>
          await client().call(method, request, { deadline: deadline() }),
      });
    }
  }

  /** Asks one of the instances. */
  async ask<I extends DescMessage, O extends DescMessage>(
    draws: Dice,
    method: Unary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    const deadline = Date.now() + answerMaxMs;
    return await this.one(draws).call(method, request, { deadline });
  }

  /** Repeats a request until it is answered, as a client does. `codes` are answers, too. */
  async untilAnswered<T>(
    what: string,
    work: () => Promise<T>,
    codes: readonly string[] = [],
  ): Promise<Answered<T>> {
    const begun = Date.now();
    for (let tries = 1; ; tries++) {
      try {
        return { answer: await work(), code: undefined, message: "", tries };
      } catch (error) {
        const code = codeOf(error);
        if (code !== undefined && codes.includes(code)) {
          return { answer: undefined, code, message: String(error), tries };
        }
        if (code !== "passing" || this.over.aborted) throw new Error(what, { cause: error });
        const waited = Date.now() - begun;
        assert.ok(
          waited < patienceMs,
          `${what}: refused for ${waited} ms, now by ${String(error)}`,
        );
      }
      await wait(retryAfterMs);
    }
  }

  /** Repeats a request until it is answered otherwise than with an error. */
  async answer<I extends DescMessage, O extends DescMessage>(
    draws: Dice,
    method: Unary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<{ readonly answer: MessageShape<O>; readonly tries: number }> {
    const what = `${method.name} ${JSON.stringify(request)}`;
    const work = async () => await this.ask(draws, method, request);
    const { answer, tries } = await this.untilAnswered(what, work);
    return { answer: must(answer, "no code is an answer"), tries };
  }

  /** Aborted when the test has failed: nothing is repeated any more. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Kills an instance at once, and starts it again. */
  async restartInstance(index: number): Promise<void> {
    const { running, client } = must(this.#instances[index], "there are two");
    running.process.kill("SIGKILL");
    await within(`instance ${index} ends`, running.finished);
    // Requests are refused by the old client until then.
    this.#instances[index] = await this.#serve(index);
    client.close();
  }

  /** Ends a server at once, by its own means or from outside, and starts it again after some time. */
  async restartServer(index: number, how: "immediate" | "kill", awayMs: number): Promise<void> {
    const server = must(this.servers[index], "each cluster has one");
    if (how === "kill") await server.signal("SIGKILL", "all");
    await within(`the server of ${clusterNames[index]} ends`, server.halt());
    await pause(awayMs, this.over);
    await within(`the server of ${clusterNames[index]} starts again`, server.restart());
  }

  async stop(): Promise<void> {
    this.#over.abort();
    for (const { running, client } of this.#instances) {
      client.close();
      running.process.kill("SIGKILL");
    }
    for (const server of this.servers) await server.stop();
  }

  async #serve(index: number): Promise<Instance> {
    const flags = ["--http-enabled=false", `--grpc-port=${this.#ports[index]}`];
    const running = startServing(flags, { env: this.env });
    const starting = within(`instance ${index} starts`, running.addresses);
    starting.catch(() => running.process.kill("SIGKILL"));
    const { grpc } = await starting;
    return { running, client: connectGrpc(grpc, { isAlone: true }) };
  }
}

/** What a request may meet while its tenant moves, or while what it needs is gone. A client repeats it. */
const passing =
  /^ERROR_CODE_(UNAVAILABLE|DEADLINE_EXCEEDED|SERIALIZATION|CONCURRENCY_LIMIT_EXCEEDED)\b/;

/** The code of what is asked about a state of before a move. */
export const expiredCode = "SNAP_TOKEN_EXPIRED";

/** The code of Pemba's error, `passing` for one that a client repeats; undefined for none of these. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("details" in error) || !("code" in error)) return undefined;
  const details = String(error.details);
  if (passing.test(details)) return "passing";
  const code = /^ERROR_CODE_(\w+)/.exec(details)?.[1];
  // Without one, the connection to the instance was refused, or was lost.
  const isLost = code === undefined && [1, 13, 14].includes(Number(error.code));
  return isLost ? "passing" : code;
}
