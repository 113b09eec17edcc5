/**
 * Disables signals that would harm a running process: one opens the debugger to all local users,
 * the other ends the process during its work.
 */
export function ignoreSignals(): void {
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => {});
}
