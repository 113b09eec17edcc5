import { BlockList, isIP } from "node:net";

/** Joins a host and a port for clients to dial. An IPv6 address gets brackets. */
export function addressOf(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether only this machine can reach a listener on `host`. An empty host means all addresses. */
export function isLoopback(host: string): boolean {
  return /^localhost\.?$/i.test(host) || (isIP(host) !== 0 && loopback.check(host, familyOf(host)));
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function familyOf(host: string): "ipv4" | "ipv6" {
  return isIP(host) === 4 ? "ipv4" : "ipv6";
}
