import { lookup } from "node:dns/promises";

import { addressOf } from "../base/address.ts";
import type { PeerTarget } from "../config/peer-target.ts";

/** Where the instances are now, each as `host:port`. Fails when a name cannot be resolved. */
export type Resolve = (target: PeerTarget) => Promise<readonly string[]>;

/** Asks the resolver of the system, which knows search domains and hosts files as well. */
export const resolvePeers: Resolve = async (target) => {
  switch (target.kind) {
    case "list":
      return target.addresses;
    case "name": {
      const found = await lookup(target.host, { all: true });
      return found.map(({ address }) => addressOf(address, target.port));
    }
  }
};
