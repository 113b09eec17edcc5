import assert from "node:assert/strict";

/** What a test file may change for the files that run after it in the same process. */
export interface ProcessState {
  /** Throws if the process is in another state now, and names what changed; puts nothing back. */
  readonly assertUnchanged: () => void;
}

/** Takes down the state that the process is in. */
export function processState(): ProcessState {
  const found = facts();
  const globals = Object.getOwnPropertyDescriptors(globalThis);
  return {
    assertUnchanged: () => {
      const now = facts();
      const changed = [...new Set([...found.keys(), ...now.keys()])].filter(
        (name) => !Object.is(found.get(name), now.get(name)),
      );
      // Not those that are new: packages share their own helpers so.
      const replaced = Object.entries(globals)
        .filter(([name, property]) => !isSame(name, property))
        .map(([name]) => `global ${name}`);
      assert.deepEqual(
        [...changed, ...replaced],
        [],
        "the file changes its process: undo it, or name the file in test/support/alone.ts",
      );
    },
  };
}

function facts(): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ["working folder", process.cwd()],
    ["exit code", process.exitCode],
    ["Date.now", Reflect.get(Date, "now")],
    ["performance.now", Reflect.get(performance, "now")],
    ...Object.entries(process.env).map(([name, value]) => [`variable ${name}`, value] as const),
    ...process
      .eventNames()
      // A package may have work to do at the end of a process, from its first use on.
      .filter((name) => name !== "exit" && name !== "beforeExit")
      .map((name) => [`listeners of ${String(name)}`, process.listenerCount(name)] as const),
  ]);
}

/** A getter is Node's own, which loads a part of it on first use, and is not asked. */
function isSame(name: string, before: PropertyDescriptor): boolean {
  const now = Object.getOwnPropertyDescriptor(globalThis, name);
  return "get" in before || Object.is(now?.value, before.value);
}
