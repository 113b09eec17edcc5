import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import type { Finished } from "./pemba.ts";

/** What the process is asked to run. */
export interface CommandOrder {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A process that runs commands of `pemba` one after the other, as `src/main.ts` runs one. A file that
 * runs dozens of commands loads the program once.
 */
export class CommandsProcess {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, "run-commands.ts"), {
    env: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith("SERVICE_")),
    ),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a command after those before it. Rejects if the process ends meanwhile. */
  async run(words: readonly string[], env: CommandOrder["env"] = {}): Promise<Finished> {
    const result = this.#last.then(async () => await this.#ask({ words, env }));
    this.#last = result.catch(() => undefined);
    return await result;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill();
    await exited;
  }

  async #ask(order: CommandOrder): Promise<Finished> {
    const child = this.#child;
    return await new Promise((resolve, reject) => {
      const settle = (): void => {
        child.off("message", answer);
        child.off("exit", fail);
      };
      const answer = (finished: Finished): void => {
        settle();
        resolve(finished);
      };
      const fail = (): void => {
        settle();
        reject(new Error(`the process of commands ended at: ${order.words.join(" ")}`));
      };
      child.once("message", answer);
      child.once("exit", fail);
      child.send(order);
    });
  }
}
