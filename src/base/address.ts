import { BlockList, isIP } from "node:net";

/** A host and a port in one text, as clients dial them: an IPv6 address has brackets around it. */
export function addressOf(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether only this machine reaches what listens there; an empty host stands for all addresses. */
export function isLoopback(host: string): boolean {
  return /^localhost\.?$/i.test(host) || (isIP(host) !== 0 && loopback.check(host, familyOf(host)));
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function familyOf(host: string): "ipv4" | "ipv6" {
  return isIP(host) === 4 ? "ipv4" : "ipv6";
}
