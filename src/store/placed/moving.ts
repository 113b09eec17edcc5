import { Caller, forCaller } from "../../base/caller.ts";
import { PembaError } from "../../base/error.ts";
import { pause } from "../../base/pause.ts";
import type { TenantId } from "../../base/tuple.ts";
import type { Directory } from "./directory.ts";

/** A tenant is refused for two seconds at most, unless the process that moves it has gone. */
const patienceMs = 5_000;
const lookEveryMs = 20;

/**
 * Waits for tenants that no cluster serves at the moment, since they move. Requests for one tenant share
 * a wait, so the directory is asked fifty times a second for each such tenant at most.
 */
export class Moving {
  readonly #directory: Pick<Directory, "read">;
  readonly #waits = new Map<TenantId, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(directory: Pick<Directory, "read">) {
    this.#directory = directory;
  }

  /**
   * Resolves when the tenant does not move, or a cluster serves it. Fails with UNAVAILABLE if none does within
   * some seconds.
   */
  async ended(tenant: TenantId): Promise<void> {
    // Not shared: a look that began before may show the placement as it was before the cluster refused.
    if (!this.#waits.has(tenant) && !(await this.#isMoving(tenant))) return;
    await (this.#waits.get(tenant) ?? this.#share(tenant));
  }

  close(): void {
    this.#closing.abort();
  }

  async #share(tenant: TenantId): Promise<void> {
    const wait = this.#wait(tenant).finally(() => this.#waits.delete(tenant));
    this.#waits.set(tenant, wait);
    await wait;
  }

  async #wait(tenant: TenantId): Promise<void> {
    const { signal } = this.#closing;
    const until = performance.now() + patienceMs;
    do {
      if (performance.now() >= until || signal.aborted) throw isMoving();
      await pause(lookEveryMs, signal);
      // It goes on when the request leaves that began it, since others wait for it, too.
    } while (await forCaller(new Caller(new AbortController()), () => this.#isMoving(tenant)));
  }

  async #isMoving(tenant: TenantId): Promise<boolean> {
    return (await this.#directory.read(tenant))?.state === "moving";
  }
}

/**
 * The messages of a stream. If its cluster does not have the tenant any more since it has moved, they end with
 * UNAVAILABLE: the tenant is there, and has to be read anew.
 */
export async function* endAsMoved<T>(
  messages: AsyncIterable<T>,
  tenant: TenantId,
  directory: Pick<Directory, "read">,
): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    if (!(error instanceof PembaError) || error.code !== "TENANT_NOT_FOUND") throw error;
    const placement = await directory.read(tenant);
    if (placement === undefined || placement.state === "deleting") throw error;
    throw new PembaError(
      "UNAVAILABLE",
      "the tenant has moved to another cluster, read its data anew and watch from the token of that answer",
    );
  }
}

export function isMoving(): PembaError {
  return new PembaError(
    "UNAVAILABLE",
    "the tenant is being moved to another cluster, retry in a second",
  );
}
