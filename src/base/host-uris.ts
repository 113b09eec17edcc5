/** Where a server may be, and which of several is wanted. */
export interface HostUris {
  /** One URI for each host, in their order. */
  readonly uris: readonly [string, ...string[]];
  /** A standby is passed over. */
  readonly mustWrite: boolean;
}

const parts = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is;

/**
 * A URI that names several hosts, with commas between, as one URI for each. The driver takes them,
 * too, but cancels at the first one even if it is connected to another, and never gives up when none is there.
 */
export function hostUris(uri: string): HostUris {
  const [, start = "", hosts = "", rest = uri] = parts.exec(uri) ?? [];
  const { left, target } = withoutTarget(rest);
  const [name = "", ...others] = hosts.split(",");
  const names = [name, ...others];
  const uriOf = (host: string): string => `${start}${withPort(host, names)}${left}`;
  return {
    uris: [uriOf(name), ...others.map(uriOf)],
    mustWrite: names.length > 1 || target === "primary" || target === "read-write",
  };
}

/** Host and port of a URI with one host, without what is secret in it. */
export function hostOf(uri: string): string {
  return parts.exec(uri)?.[2] ?? "";
}

/** The host of a URI with one host, without the brackets of an IPv6 address; empty when the URI names none. */
export function hostIn(uri: string): string {
  const host = decodeURIComponent(URL.parse(uri)?.hostname ?? "");
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** A host without a port has the one that stands behind the last: the driver reads it so. */
function withPort(host: string, names: readonly string[]): string {
  const port = /:\d+$/.exec(names.at(-1) ?? "")?.[0] ?? "";
  return host === "" || /:\d+$/.test(host) ? host : `${host}${port}`;
}

const targetParameter = /([?&])target_session_attrs=([^&#]*)(&?)/;

/** The driver has no answer for a server that is not what this parameter asks for. */
function withoutTarget(rest: string): { readonly left: string; readonly target: string } {
  const target = targetParameter.exec(rest)?.[2] ?? "";
  const left = rest.replace(targetParameter, (_whole, before: string, _value, after: string) =>
    after === "" ? "" : before,
  );
  return { left, target };
}
