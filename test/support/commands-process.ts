import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";

import { commandEnvironment, type Finished, type RunOptions } from "./pemba.ts";

/** What the process is asked to run. */
export interface CommandOrder {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** What is read from standard input. */
  readonly input: string;
}

let kept: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of `pemba` after those before it, as `src/main.ts` runs one, in a process that loads
 * the program once for all commands of this process. Rejects if the process ends meanwhile.
 *
 * A command with `--ca` needs a process of its own: what a process trusts, it trusts to its end.
 * It does not show that the process of a command ends by itself, with the status of the command, nor
 * that it reads its own standard input: of each command, at least one test takes `runPemba`.
 */
export async function runCommand(
  words: readonly string[],
  { env = {}, cwd = process.cwd(), input = "" }: Pick<RunOptions, "env" | "cwd" | "input"> = {},
): Promise<Finished> {
  // A server with workers starts its own program again, which is not that of this process.
  const own = words[0] === "serve" ? { SERVICE_SERVER_WORKERS: "1" } : {};
  const result = last.then(async () => await ask({ words, env: { ...own, ...env }, cwd, input }));
  last = result.catch(() => undefined);
  return await result;
}

async function ask(order: CommandOrder): Promise<Finished> {
  kept ??= startProcess();
  const child = kept;
  hold(child);
  return await new Promise((resolve, reject) => {
    const settle = (): void => {
      child.off("message", answer);
      child.off("exit", fail);
      letGo(child);
    };
    const answer = (finished: Finished): void => {
      settle();
      resolve(finished);
    };
    const fail = (): void => {
      settle();
      kept = undefined;
      reject(new Error(`the process of commands ended at: ${order.words.join(" ")}`));
    };
    child.once("message", answer);
    child.once("exit", fail);
    child.send(order);
  });
}

/** It ends with this process, which closes the channel. */
function startProcess(): ChildProcess {
  return fork(join(import.meta.dirname, "run-commands.ts"), {
    env: commandEnvironment(),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

/** Between commands, the process does not keep this one alive. */
function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

function hold(child: ChildProcess): void {
  child.ref();
  child.channel?.ref();
}
