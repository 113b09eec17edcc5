import { PembaError } from "../base/error.ts";
import type { ChangeStore } from "./store.ts";

/** Where nobody may follow changes. */
export const unwatched: ChangeStore = {
  follow: async () => {
    throw new PembaError(
      "NOT_IMPLEMENTED",
      "watch is not enabled on this server: see `service.watch.enabled`",
    );
  },
};
