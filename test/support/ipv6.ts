import { networkInterfaces } from "node:os";

const addresses = Object.values(networkInterfaces()).flatMap((several) => several ?? []);

/** Why a test that listens on `::1` is skipped; false when it is not. */
export const withoutIpv6: string | false = addresses.some(({ address }) => address === "::1")
  ? false
  : "the machine has no IPv6";
