import { once } from "node:events";
import { constants } from "node:os";

import { complain } from "./output.ts";

const stopSignals = ["SIGTERM", "SIGINT"] as const;
type StopSignal = (typeof stopSignals)[number];

/** Work that a user may stop. */
export interface Stop {
  /** Aborted by the first stop signal, whose name is the reason. */
  readonly signal: AbortSignal;
  /** Stop signals end the process again. */
  close(): void;
}

/** Listens for stop signals. A second one ends the process at once. */
export function listenForStop(): Stop {
  const controller = new AbortController();
  const heard = (name: StopSignal): void => {
    // Explicitly, because the first process of a container ignores signals without a listener.
    if (controller.signal.aborted) process.exit(stopStatus(name));
    controller.abort(name);
  };
  for (const name of stopSignals) process.on(name, heard);
  return {
    signal: controller.signal,
    close: () => {
      for (const name of stopSignals) process.off(name, heard);
    },
  };
}

/** The exit status of a command that a signal has stopped, as shells have it. */
export function stopStatus(name: StopSignal): number {
  return 128 + constants.signals[name];
}

/** Resolves with the first stop signal that is heard. */
export async function firstSignal({ signal }: Stop): Promise<string> {
  await once(signal, "abort");
  return String(signal.reason);
}

/** Resolves with the first stop signal. A second one ends the process at once. */
export async function stopSignal(): Promise<string> {
  return await firstSignal(listenForStop());
}

/**
 * Ignores stop signals, which a terminal or a service manager may send to all processes of an instance:
 * the supervisor says when its workers stop. SIGHUP, by which it says that the log file was moved, may come before the
 * file is open.
 */
export function leaveStopToSupervisor(): void {
  for (const name of [...stopSignals, "SIGHUP"] as const) process.on(name, () => {});
}

/**
 * Disables signals that would harm a running process: one opens the debugger to all local users,
 * the other ends the process during its work.
 */
export function ignoreSignals(): void {
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => {});
}

/**
 * Ends the process quietly when nothing reads its results any more, as in `pemba export | head`. The exit
 * status is the one that shells show for such a process. Says why if they cannot be written, as on a full
 * disk. What cannot be remarked beside them is lost.
 */
export function endWithoutReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(128 + constants.signals.SIGPIPE);
    process.exit(complain(`cannot write to standard output: ${error.message}`));
  });
  process.stderr.on("error", () => undefined);
}

/**
 * Ends the process with status 1 if an error is not caught, because the state is then unknown.
 * Prints a line with the error and its position.
 */
export function endOnFault(): void {
  process.on("uncaughtException", (fault) => {
    const text = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
    process.exit(
      complain(
        `pemba ended because of a fault in the program: ${text.replaceAll(/\s*\n\s*/g, " ")}`,
      ),
    );
  });
}
