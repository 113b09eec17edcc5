/** Which fault of instrumented code is on, and which ones were asked for. */
let fault: number | undefined;
let reached = new Set<number>();

/** Switches a fault on, or all of them off. */
export function switchFault(id: number | undefined): void {
  fault = id;
}

/** Collects the faults whose places are reached from now on. */
export function startReaching(): ReadonlySet<number> {
  reached = new Set();
  return reached;
}

/** The faults whose places were reached since then. */
export function reachedSoFar(): ReadonlySet<number> {
  return reached;
}

/** Gives instrumented code the function that it asks. */
export function installSwitch(): void {
  Object.defineProperty(globalThis, "$fault", {
    value: (id: number): boolean => {
      reached.add(id);
      return id === fault;
    },
  });
}
