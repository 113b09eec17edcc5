/** How a connection to the database is encrypted, as `sslmode` names it. */
const tlsModes = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;

type TlsMode = (typeof tlsModes)[number];

/** What the URI of a database says besides its address. */
export interface DatabaseParameters {
  readonly tlsMode: TlsMode;
  /** The file of the trusted certificates. Undefined: those that the system trusts. */
  readonly rootCertificates: string | undefined;
  /** The URI without the parameters that neither the driver nor the server may get. */
  readonly left: string;
}

/** Parameters that Pemba reads itself. */
const ownNames = ["sslmode", "sslrootcert"];

/** Parameters whose effect is not supported. To ignore them would do less than the URI asks for. */
const unsupportedNames: readonly string[] = [
  "sslcert",
  "sslkey",
  "sslpassword",
  "sslcrl",
  "sslcrldir",
  "sslcertmode",
  "ssl_min_protocol_version",
  "ssl_max_protocol_version",
  "requirepeer",
  "require_auth",
];

/**
 * Parameters that belong before the `?`. The driver would read some of them and the server others.
 */
const placedNames: readonly string[] = [
  "host",
  "hostaddr",
  "port",
  "user",
  "username",
  "password",
  "passfile",
  "dbname",
  "database",
];

/** The supported values of parameters that are not supported with every value. */
const choices: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["sslmode", tlsModes],
  ["sslnegotiation", ["postgres", "direct"]],
  ["channel_binding", ["disable", "prefer"]],
  ["gssencmode", ["disable", "prefer"]],
]);

/**
 * Parameters that tell other programs how to pool and prepare, or that allow what is not supported.
 * They are removed, because the server does not know them.
 */
const idleNames: readonly string[] = [
  "channel_binding",
  "gssencmode",
  "connect_timeout",
  "default_query_exec_mode",
  "plan_cache_mode",
  "statement_cache_capacity",
  "description_cache_capacity",
  "pool_max_conns",
  "pool_min_conns",
  "pool_min_idle_conns",
  "pool_max_conn_lifetime",
  "pool_max_conn_lifetime_jitter",
  "pool_max_conn_idle_time",
  "pool_health_check_period",
];

const passedOver: ReadonlySet<string> = new Set([...ownNames, ...idleNames]);

/** Returns the parameters of a database URI, or one message that says what is wrong with them. */
export function databaseParameters(uri: string): DatabaseParameters | string {
  const [, start = uri, query = "", fragment = ""] = /^([^?#]*)\?([^#]*)(.*)$/s.exec(uri) ?? [];
  const pairs = query.split("&").map((text) => {
    const [[name, value] = ["", ""]] = new URLSearchParams(text);
    return { text, name, value };
  });
  const fault = pairs.map(({ name, value }) => faultOf(name, value)).find((it) => it !== undefined);
  if (fault !== undefined) return fault;
  const given = new Map(pairs.map(({ name, value }) => [name, value]));
  const rootFile = given.get("sslrootcert");
  const modeGiven = tlsModes.find((mode) => mode === given.get("sslmode"));
  const tlsMode = modeGiven ?? (rootFile === "system" ? "verify-full" : "disable");
  const tlsFault = contradictionOf(tlsMode, rootFile);
  if (tlsFault !== undefined) return tlsFault;
  const left = pairs.filter(({ name }) => !passedOver.has(name)).map(({ text }) => text);
  return {
    // As other clients do: a URI that names an authority wants it to be verified.
    tlsMode: tlsMode === "require" && rootFile !== undefined ? "verify-ca" : tlsMode,
    rootCertificates: rootFile === "system" ? undefined : rootFile,
    left: `${start}${left.join("&") === "" ? "" : "?"}${left.join("&")}${fragment}`,
  };
}

function faultOf(name: string, value: string): string | undefined {
  if (name === "ssl") return "the parameter `ssl` is not supported, use `sslmode`";
  if (unsupportedNames.includes(name)) return `the parameter \`${name}\` is not supported`;
  if (placedNames.includes(name)) {
    return `the parameter \`${name}\` is not supported, give its value before the \`?\``;
  }
  const allowed = choices.get(name);
  if (allowed === undefined || allowed.includes(value)) return undefined;
  return `the parameter \`${name}\` is expected to be ${allowed.join(", ").replace(/, ([^,]*)$/, " or $1")}`;
}

function contradictionOf(mode: TlsMode, rootFile: string | undefined): string | undefined {
  if (rootFile === "") return "the parameter `sslrootcert` is empty";
  if (rootFile === "system" && mode !== "verify-full") {
    return "`sslrootcert=system` needs `sslmode=verify-full`";
  }
  if (rootFile === undefined && mode === "verify-ca") {
    return "`sslmode=verify-ca` needs `sslrootcert`, the file of the authority";
  }
  if (rootFile !== undefined && (mode === "disable" || mode === "prefer")) {
    return "`sslrootcert` needs `sslmode` to be require, verify-ca or verify-full";
  }
  return undefined;
}
