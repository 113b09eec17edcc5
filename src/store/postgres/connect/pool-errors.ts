import { PembaError } from "../../../base/error.ts";

/** Nothing came free for a statement whose time is over. */
export function noneFree(): PembaError {
  const sentence =
    "no connection to the database came free in time (`database.read_timeout`, `database.max_connections`)";
  return new PembaError("DEADLINE_EXCEEDED", sentence);
}

/** Nothing more is asked of a pool that ends. */
export function poolClosing(): PembaError {
  const cause = Object.assign(new Error("the pool is closed"), { code: "CONNECTION_ENDED" });
  return new PembaError("UNAVAILABLE", "the database does not answer", { cause });
}
