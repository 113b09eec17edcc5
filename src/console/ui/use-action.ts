import { useCallback, useState } from "preact/hooks";

import { type ApiError, apiErrorOf } from "../api/api-error.ts";

/** Work that a click begins: whether it is under way, and how the last one failed. */
export interface Action {
  readonly isRunning: boolean;
  readonly error: ApiError | undefined;
  readonly run: (work: () => Promise<void>) => void;
}

/** One piece of work at a time. A second click while it is under way does nothing. */
export function useAction(): Action {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<ApiError>();
  const run = useCallback(
    (work: () => Promise<void>) => {
      if (isRunning) return;
      setRunning(true);
      setError(undefined);
      work()
        .catch((failure: unknown) => setError(apiErrorOf(failure)))
        .finally(() => setRunning(false));
    },
    [isRunning],
  );
  return { isRunning, error, run };
}
