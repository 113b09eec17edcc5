import type { ServerResponse } from "node:http";

declare module "node:http" {
  interface ServerResponse {
    /** What is to be called when the reply has gone. A map beside it costs a request more. */
    releases?: (() => void)[] | undefined;
  }
}

/**
 * Has `release` called once: when the reply has gone, or when `letGo` is called before. A client may
 * have left while its token was looked at: then there is nothing to hold, and it is called at once.
 */
export function holdFor(response: ServerResponse, release: () => void): void {
  if (response.closed) {
    release();
  } else if (response.releases === undefined) {
    response.releases = [release];
    response.on("close", letGoOfThis);
  } else {
    response.releases.push(release);
  }
}

/** Releases what a request holds before its connection is done with it. */
export function letGo(response: ServerResponse): void {
  const releases = response.releases ?? [];
  response.releases = [];
  for (const release of releases) release();
}

function letGoOfThis(this: ServerResponse): void {
  letGo(this);
}
