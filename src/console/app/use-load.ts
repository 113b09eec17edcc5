import { useCallback, useEffect, useState } from "preact/hooks";

import { type ApiError, apiErrorOf } from "../api/api-error.ts";

/** How far something is that is fetched. */
export type Fetched<T> =
  | { readonly kind: "loading" }
  | { readonly kind: "failed"; readonly error: ApiError }
  | { readonly kind: "ready"; readonly value: T };

/**
 * Fetches when the component is drawn first, when a key changes, and on `reload`. What is fetched for old
 * keys is given up.
 */
export function useLoad<T>(
  fetchIt: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
): { readonly loaded: Fetched<T>; readonly reload: () => void } {
  const [loaded, setLoaded] = useState<Fetched<T>>({ kind: "loading" });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const ending = new AbortController();
    setLoaded({ kind: "loading" });
    fetchIt(ending.signal).then(
      (value) => {
        if (!ending.signal.aborted) setLoaded({ kind: "ready", value });
      },
      (error: unknown) => {
        if (!ending.signal.aborted) setLoaded({ kind: "failed", error: apiErrorOf(error) });
      },
    );
    return () => ending.abort();
  }, [...keys, turn]);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  return { loaded, reload };
}
