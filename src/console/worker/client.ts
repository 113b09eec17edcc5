import type { JobInput, JobName, JobOutput, JobReply, JobRequest } from "./jobs.ts";

/** A job that takes longer than this is given up, in milliseconds. */
const patienceMs = 20_000;

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** A thread beside the page. It is started with its first job, and again after one that took too long. */
export class JobWorker {
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** Does a job. Fails with what the job says, or if it takes too long. */
  async ask<Name extends JobName>(name: Name, input: JobInput<Name>): Promise<JobOutput<Name>> {
    const id = ++this.#lastId;
    const output = await new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(), patienceMs);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#started().postMessage({ id, name, input } satisfies JobRequest);
    });
    return output as JobOutput<Name>;
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(workerAddress(), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<JobReply>) => this.#take(data));
    worker.addEventListener("error", (event) => this.#fail(event.message));
    this.#worker = worker;
    return worker;
  }

  #take(reply: JobReply): void {
    const waiting = this.#waiting.get(reply.id);
    if (waiting === undefined) return;
    this.#waiting.delete(reply.id);
    clearTimeout(waiting.timer);
    if (reply.kind === "done") waiting.resolve(reply.output);
    else waiting.reject(new Error(reply.message));
  }

  #giveUp(): void {
    this.#fail(`this takes longer than ${patienceMs / 1000} seconds and was given up`);
  }

  /** Ends the thread with all that waits for it. */
  #fail(message: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(message));
    }
    this.#waiting.clear();
  }
}

/** What browsers with trusted types offer. The types of the document do not have it yet. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (address: string) => string },
  ): { createScriptURL(address: string): string };
}

/**
 * The address of the script, as the page names it. The policy of the page lets no text become a script,
 * unless it comes from here.
 */
function workerAddress(): string {
  const address = document.body.dataset["worker"] ?? "";
  const trusted: TrustedTypes | undefined = Reflect.get(globalThis, "trustedTypes");
  policy ??= trusted?.createPolicy("pemba", { createScriptURL: (text) => text });
  return policy?.createScriptURL(address) ?? address;
}

let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

/** For what is about a schema. */
export const schemaWorker = new JobWorker();

/** For tests, whose run may take long. */
export const testWorker = new JobWorker();
