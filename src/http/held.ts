import type { ServerResponse } from "node:http";

const releasesOf = new WeakMap<ServerResponse, (() => void)[]>();

/**
 * Has `release` called once: when the reply has gone, or when `letGo` is called before. A client may
 * have left while its token was looked at: then there is nothing to hold, and it is called at once.
 */
export function holdFor(response: ServerResponse, release: () => void): void {
  if (response.closed) {
    release();
    return;
  }
  const known = releasesOf.get(response);
  if (known !== undefined) {
    known.push(release);
    return;
  }
  releasesOf.set(response, [release]);
  response.once("close", () => letGo(response));
}

/** Releases what a request holds before its connection is done with it. */
export function letGo(response: ServerResponse): void {
  const releases = releasesOf.get(response) ?? [];
  releasesOf.delete(response);
  for (const release of releases) release();
}
