import { useEffect, useRef, useState } from "preact/hooks";

import { apiErrorOf } from "../api/api-error.ts";
import type { Fetched } from "../app/use-load.ts";
import type { JobWorker } from "./client.ts";
import type { JobInput, JobName, JobOutput } from "./jobs.ts";

/** How long a user pauses before a job begins, in milliseconds. */
const pauseMs = 200;

/**
 * Does a job for the present input, a moment after it changed. What is under way for a former input is dropped. Until
 * it is done, the former result stays, so that nothing flickers while a user types. An undefined input asks for nothing.
 *
 * @param key a text that differs when the input does
 */
export function useJob<Name extends JobName>(
  worker: JobWorker,
  name: Name,
  input: JobInput<Name> | undefined,
  key: string,
): Fetched<JobOutput<Name>> {
  const [loaded, setLoaded] = useState<Fetched<JobOutput<Name>>>({ kind: "loading" });
  const isFirst = useRef(true);
  useEffect(() => {
    if (input === undefined) return undefined;
    const ending = new AbortController();
    const { signal } = ending;
    const begin = (): void => {
      isFirst.current = false;
      worker.ask(name, input, signal).then(
        (value) => signal.aborted || setLoaded({ kind: "ready", value }),
        (error: unknown) =>
          signal.aborted || setLoaded({ kind: "failed", error: apiErrorOf(error) }),
      );
    };
    const timer = setTimeout(begin, isFirst.current ? 0 : pauseMs);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [worker, name, key, input === undefined]);
  return loaded;
}

/** The last result that was no failure. */
export function useLastReady<T>(loaded: Fetched<T>): T | undefined {
  const last = useRef<T>(undefined);
  if (loaded.kind === "ready") last.current = loaded.value;
  return last.current;
}
