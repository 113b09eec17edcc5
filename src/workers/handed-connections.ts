import type { Worker } from "node:cluster";

/** A connection as Node hands it over. To close it for the second time does nothing. */
interface Handle {
  readonly close: () => void;
}

/**
 * Connections that this process has handed to a worker. Node keeps each one open until the worker says that it has it.
 * If the worker dies before, nothing closes the connection, and its client waits for ever.
 */
export class HandedConnections {
  /** The last one of each port: the next one follows when the worker has this one. */
  readonly #last = new Map<unknown, Handle>();

  /** Made before anything listens. */
  constructor({ process }: Worker) {
    process.send = new Proxy(process.send.bind(process), {
      apply: (send, _self, given: readonly unknown[]) => {
        const [message, handle] = given;
        if (isHandOver(message) && isHandle(handle)) this.#last.set(message.key, handle);
        return Reflect.apply(send, process, given);
      },
    });
  }

  /** Closes those that the worker may not have. Called when it has died. */
  close(): void {
    for (const handle of this.#last.values()) handle.close();
    this.#last.clear();
  }
}

/** What `node:cluster` says when it hands a connection over, with a key for each port. */
function isHandOver(message: unknown): message is { readonly key: unknown } {
  return (
    typeof message === "object" &&
    message !== null &&
    "act" in message &&
    message.act === "newconn" &&
    "key" in message
  );
}

function isHandle(handle: unknown): handle is Handle {
  return (
    typeof handle === "object" &&
    handle !== null &&
    "close" in handle &&
    typeof handle.close === "function"
  );
}
