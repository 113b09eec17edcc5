/** Where the instances of a service are found. */
export type PeerTarget =
  /** At every address of a name. The addresses may change. */
  | { readonly kind: "name"; readonly host: string; readonly port: number }
  /** At these addresses, each `host:port`. */
  | { readonly kind: "list"; readonly addresses: readonly string[] };

const place = /^(?<host>\[[0-9a-f:.]+\]|[a-z0-9_.-]+):(?<port>\d{1,5})$/i;

/**
 * Reads `dns:///name:port`, `kubernetes:///name.namespace:port` (a headless service), `name:port`,
 * and lists as `static:///host:port,host:port` or without the scheme. Undefined if it is none of
 * these.
 */
export function peerTargetOf(text: string): PeerTarget | undefined {
  const [, scheme = "", rest = ""] = /^(?:([a-z]+):\/\/\/)?(.*)$/.exec(text) ?? [];
  const addresses = rest.split(",").map((part) => part.trim());
  if (!addresses.every(isPlace)) return undefined;
  switch (scheme) {
    case "dns":
    case "kubernetes":
      return addresses.length === 1 ? nameOf(rest) : undefined;
    case "static":
      return { kind: "list", addresses };
    case "":
      return addresses.length === 1 ? nameOf(rest) : { kind: "list", addresses };
    default:
      return undefined;
  }
}

function nameOf(text: string): PeerTarget {
  const { host = "", port = "" } = place.exec(text)?.groups ?? {};
  return { kind: "name", host: host.replaceAll(/[[\]]/g, ""), port: Number(port) };
}

function isPlace(text: string): boolean {
  const port = Number(place.exec(text)?.groups?.["port"] ?? 0);
  return port > 0 && port <= 65_535;
}
