import type { JobInput, JobMessage, JobName, JobOutput, JobReply, JobRequest } from "./jobs.ts";

/** A job that takes longer than this is given up, in milliseconds. */
const patienceMs = 20_000;

interface AskedJob {
  readonly request: JobRequest;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Since it was sent. */
  timer?: ReturnType<typeof setTimeout>;
}

/** A thread beside the page. It is started with its first job, and again after one that took too long. */
export class JobWorker {
  readonly #isSerial: boolean;
  #worker: Worker | undefined;
  #lastId = 0;
  /** In the order in which they were asked for. */
  readonly #jobs = new Map<number, AskedJob>();

  /** `isSerial`: jobs that cannot pause are sent one by one, so that those that are outdated by then are never begun. */
  constructor(isSerial: boolean) {
    this.#isSerial = isSerial;
  }

  /** Does a job. Fails with what the job says, if it takes too long, or if the signal aborts. */
  async ask<Name extends JobName>(
    name: Name,
    input: JobInput<Name>,
    signal?: AbortSignal,
  ): Promise<JobOutput<Name>> {
    const id = ++this.#lastId;
    const output = await new Promise<unknown>((resolve, reject) => {
      this.#jobs.set(id, { request: { kind: "do", id, name, input }, resolve, reject });
      signal?.addEventListener("abort", () => this.#drop(id), { once: true });
      this.#sendNext();
    });
    return output as JobOutput<Name>;
  }

  #sendNext(): void {
    for (const job of this.#jobs.values()) {
      if (job.timer === undefined) {
        job.timer = setTimeout(() => this.#giveUp(), patienceMs);
        this.#send(job.request);
      }
      if (this.#isSerial) return;
    }
  }

  #send(message: JobMessage): void {
    this.#started().postMessage(message);
  }

  /** One that was sent stays until the thread is done with it. */
  #drop(id: number): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    if (job.timer === undefined) this.#jobs.delete(id);
    else this.#send({ kind: "drop", id });
    job.reject(new Error("the input has changed"));
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
    const job = this.#jobs.get(reply.id);
    if (job === undefined) return;
    this.#jobs.delete(reply.id);
    clearTimeout(job.timer);
    if (reply.kind === "done") job.resolve(reply.output);
    else job.reject(new Error(reply.message));
    this.#sendNext();
  }

  #giveUp(): void {
    this.#fail(`this takes longer than ${patienceMs / 1000} seconds and was given up`);
  }

  /** Ends the thread with all that was sent to it. */
  #fail(message: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const [id, { reject, timer }] of this.#jobs) {
      if (timer === undefined) continue;
      clearTimeout(timer);
      this.#jobs.delete(id);
      reject(new Error(message));
    }
    this.#sendNext();
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
export const schemaWorker = new JobWorker(false);

/** For graphs, whose layout cannot pause. What is asked while a user types does not wait for it. */
export const graphWorker = new JobWorker(true);

/** For tests, whose run may take long. */
export const testWorker = new JobWorker(true);
