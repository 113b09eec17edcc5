/**
 * Has signals that are no request to end do nothing. The first would have anybody on the machine
 * debug the process without a password, the second would end it in the middle of its work.
 */
export function ignoreSignals(): void {
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => {});
}
