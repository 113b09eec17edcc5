/** A host and a port in one text, as clients dial them: an IPv6 address has brackets around it. */
export function addressOf(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
