import { isLoopback } from "../base/address.ts";
import type { OptionKey } from "./options.ts";

type Values = ReadonlyMap<OptionKey, unknown>;

/** A sentence when everybody who reaches the port of the instances may ask there. */
export function unguardedPeers(values: Values): readonly string[] {
  if (values.get("distributed.enabled") !== true || values.get("authn.enabled") !== false)
    return [];
  const keys = values.get("distributed.preshared.keys");
  const host = values.get("server.host");
  const isGuarded = !Array.isArray(keys) || keys.length > 0;
  if (isGuarded || typeof host !== "string" || isLoopback(host)) return [];
  return [
    "`distributed.port`: answers checks of all tenants to everybody who reaches it, give `distributed.preshared.keys`",
  ];
}
