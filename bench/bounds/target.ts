import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";

import { must } from "../../src/base/assert.ts";
import { startServing } from "../../test/support/pemba.ts";
import { type Asker, openAsker, type Outcome } from "./ask.ts";
import { type Inspector, openInspector } from "./inspector.ts";

/** The database is undefined for the engine that holds all in memory. */
export interface TargetOptions {
  readonly databaseUrl: string | undefined;
  /** Most megabytes of the heap of the process. */
  readonly heapMegabytes: number;
}

/** A `pemba serve` that lives. */
export interface Served {
  readonly asker: Asker;
  readonly inspector: Inspector;
  /** A small tenant that has its own questions, by path and body. */
  readonly neighbour: { readonly path: string; readonly body: object };
}

/** What became of a schema that was written, and under which tenant. */
export interface Written {
  /** In front of the path of a question. */
  readonly path: string;
  readonly schema: Outcome;
}

/** A schema with its facts, as the interface takes them. */
export interface WrittenData {
  readonly schema: string;
  readonly tuples: readonly object[];
  readonly attributes?: readonly object[];
}

/** In one request, so that it is no larger than a request may be. */
const factsOfWrite = 150;

/** How long a process has until it answers again once no request waits. */
const recoveryMs = 3_000;

const neighbourWarmUp = 600;

/** A server that is started anew when it has died or does not answer any more. */
export class Target {
  readonly #options: TargetOptions;
  #served: (Served & { readonly isAlive: () => boolean; end: () => Promise<void> }) | undefined;
  #starts = 0;

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  /** How often it had to be started. */
  get starts(): number {
    return this.#starts;
  }

  /** A process that answers: the same as before, if it still does. */
  async ready(): Promise<Served> {
    const before = this.#served;
    if (before?.isAlive() === true && (await answersIn(before.asker, recoveryMs))) return before;
    await this.close();
    this.#starts += 1;
    this.#served = await this.#start();
    return this.#served;
  }

  /** Writes the schema and its facts under a tenant of its own. */
  async write(data: WrittenData): Promise<Written> {
    const { asker } = await this.ready();
    return await this.#writeOver(asker, data);
  }

  async close(): Promise<void> {
    await this.#served?.end();
    this.#served = undefined;
  }

  async #writeOver(
    asker: Asker,
    { schema, tuples, attributes = [] }: WrittenData,
  ): Promise<Written> {
    const id = `bounds-${randomUUID()}`;
    const path = `/v1/tenants/${id}/`;
    expectAnswer(await asker.post("/v1/tenants/create", { id, name: id }));
    const written = await asker.post(`${path}schemas/write`, { schema });
    if (written.kind === "answered") {
      for (
        let start = 0;
        start < Math.max(tuples.length, attributes.length);
        start += factsOfWrite
      ) {
        const part = <T>(facts: readonly T[]): readonly T[] =>
          facts.slice(start, start + factsOfWrite);
        const body = { metadata: {}, tuples: part(tuples), attributes: part(attributes) };
        expectAnswer(await asker.post(`${path}data/write`, body));
      }
    }
    return { path, schema: written };
  }

  async #start() {
    const { databaseUrl, heapMegabytes } = this.#options;
    const serving = startServing([], {
      env: {
        NODE_OPTIONS: `--max-old-space-size=${heapMegabytes} --inspect=127.0.0.1:0`,
        SERVICE_PROFILER_ENABLED: "false",
        ...(databaseUrl === undefined
          ? { SERVICE_DATABASE_ENGINE: "memory" }
          : { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: databaseUrl }),
      },
    });
    const { process: child } = serving;
    let isAlive = true;
    void once(child, "exit").then(() => {
      isAlive = false;
    });
    let output = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    const { url } = await serving.addresses;
    const inspectorUrl = must(/listening on (ws:\S+)/.exec(output)?.[1], "it is inspected");
    const asker = openAsker(url);
    const inspector = await openInspector(inspectorUrl);
    await inspector.evaluate(watchLoop);
    return {
      asker,
      inspector,
      neighbour: await this.#writeNeighbour(asker),
      isAlive: () => isAlive,
      end: async () => {
        inspector.close();
        await asker.close();
        // It may be busy for a long time.
        child.kill("SIGKILL");
        await serving.finished;
      },
    };
  }

  /** A schema as many have one, and a check of it that is asked so often that it is at its best. */
  async #writeNeighbour(asker: Asker): Promise<Served["neighbour"]> {
    const { path: tenant } = await this.#writeOver(asker, neighbourData);
    const path = `${tenant}permissions/check`;
    for (let nth = 0; nth < neighbourWarmUp; nth++) {
      expectAnswer(await asker.post(path, neighbourCheck));
    }
    return { path, body: neighbourCheck };
  }
}

/** The longest time in milliseconds for which its loop did nothing else, since it was asked last. */
export async function loopDelayOf({ inspector }: Served): Promise<number> {
  return Number(await inspector.evaluate(readLoop));
}

const loopResolutionMs = 5;

const watchLoop = `globalThis.boundsLoop = process.getBuiltinModule("node:perf_hooks")
  .monitorEventLoopDelay({ resolution: ${loopResolutionMs} }); boundsLoop.enable()`;

const readLoop = `(() => { const longest = boundsLoop.max / 1e6 - ${loopResolutionMs};
  boundsLoop.reset(); return longest; })()`;

const neighbourData = {
  schema: `entity user {}
entity folder {
  relation viewer @user
}
entity document {
  relation folder @folder
  relation owner @user
  permission view = owner or folder.viewer
}`,
  tuples: [
    {
      entity: { type: "document", id: "one" },
      relation: "folder",
      subject: { type: "folder", id: "one" },
    },
    {
      entity: { type: "folder", id: "one" },
      relation: "viewer",
      subject: { type: "user", id: "ann" },
    },
  ],
};

const neighbourCheck = {
  metadata: {},
  entity: { type: "document", id: "one" },
  permission: "view",
  subject: { type: "user", id: "ann" },
};

async function answersIn(asker: Asker, ms: number): Promise<boolean> {
  const signal = AbortSignal.timeout(ms);
  while (!signal.aborted) {
    try {
      await asker.get("/livez", signal);
      return true;
    } catch {
      // What it works on may end in time.
      await wait(100);
    }
  }
  return false;
}

function expectAnswer(outcome: Outcome): void {
  if (outcome.kind !== "answered") throw new Error(JSON.stringify(outcome));
}
