import { isLoopback } from "../base/address.ts";
import type { OptionKey } from "./options.ts";
import type { Setting } from "./setting.ts";

type OptionValues = ReadonlyMap<OptionKey, unknown>;

/** Keys that must have a value if the condition holds, and why. */
interface Need {
  readonly when: (values: OptionValues) => boolean;
  readonly keys: readonly OptionKey[];
  readonly expected: string;
}

const needs: readonly Need[] = [
  {
    when: (values) =>
      values.get("database.engine") === "postgres" &&
      !has(values, "database.writer.uri") &&
      !has(values, "database.clusters"),
    keys: ["database.uri"],
    expected: "a URI, or clusters in `database.clusters`, since `database.engine` is `postgres`",
  },
  ...(["http", "grpc"] as const).map((listener): Need => ({
    when: (values) => values.get(`server.${listener}.tls.enabled`) === true,
    keys: [`server.${listener}.tls.cert`, `server.${listener}.tls.key`],
    expected: `a file since \`server.${listener}.tls.enabled\` is true`,
  })),
  {
    when: (values) => values.get("authn.enabled") === true,
    keys: ["authn.method"],
    expected: "preshared or oidc since `authn.enabled` is true",
  },
  {
    when: (values) => asks(values, "preshared") && !has(values, "authn.preshared.scoped"),
    keys: ["authn.preshared.keys"],
    expected:
      "at least one key, here or in `authn.preshared.scoped`, since `authn.method` is `preshared`",
  },
  {
    when: (values) => asks(values, "oidc"),
    keys: ["authn.oidc.issuer", "authn.oidc.audience", "authn.oidc.valid_methods"],
    expected: "a value since `authn.method` is `oidc`",
  },
  {
    when: (values) => values.get("distributed.enabled") === true,
    keys: ["distributed.address"],
    expected: "where the instances are since `distributed.enabled` is true",
  },
  {
    when: (values) =>
      values.get("distributed.enabled") === true &&
      values.get("authn.enabled") === true &&
      !has(values, "authn.preshared.keys"),
    keys: ["distributed.preshared.keys"],
    expected:
      "a key that instances know each other by, here or in `authn.preshared.keys`, since `distributed.enabled` and `authn.enabled` are true",
  },
];

/**
 * Lists problems that only several keys together show, one message each. Keys with invalid values
 * are not considered.
 */
export function contradictions(values: OptionValues): readonly string[] {
  return [
    ...clashes(values),
    ...clusterClashes(values),
    ...tooManyWorkers(values),
    ...keysTwice(values),
    ...samePorts(values),
    ...missing(values),
  ];
}

/** The memory engine keeps its data in one process. On Postgres each worker needs a connection. */
function tooManyWorkers(values: OptionValues): readonly string[] {
  const workers = values.get("server.workers");
  const connections = values.get("database.max_connections");
  if (typeof workers !== "number" || workers === 1) return [];
  if (values.get("database.engine") === "memory") {
    return [
      `\`server.workers\`: is ${workers}, expected 1 or auto since \`database.engine\` is \`memory\``,
    ];
  }
  if (typeof connections !== "number" || workers <= connections) return [];
  return [
    `\`server.workers\`: is ${workers}, expected at most ${connections}, since each worker needs one of \`database.max_connections\``,
  ];
}

function clashes(values: OptionValues): readonly string[] {
  const isAlone = values.get("database.engine") === "memory";
  const needsDatabase = (["distributed.enabled", "database.sql.enabled"] as const).flatMap((key) =>
    isAlone && values.get(key) === true
      ? [`\`${key}\`: is true, expected false since \`database.engine\` is \`memory\``]
      : [],
  );
  return values.get("database.sql.history") === true
    ? [
        ...needsDatabase,
        "`database.sql.history`: is true, expected false since SQL cannot ask states of the past yet",
      ]
    : needsDatabase;
}

/** Tenants are in one database or on clusters, and the directory is on one of these. */
function clusterClashes(values: OptionValues): readonly string[] {
  const directory = values.get("database.directory");
  const names = listIn(values, "database.clusters").flatMap((entry) =>
    typeof entry === "object" && entry !== null && "name" in entry ? [entry.name] : [],
  );
  if (!has(values, "database.clusters")) {
    return has(values, "database.directory")
      ? ["`database.directory`: is given, expected none without `database.clusters`"]
      : [];
  }
  const others = (["database.uri", "database.writer.uri", "database.reader.uri"] as const)
    .filter((key) => has(values, key))
    .map((key) => `\`${key}\`: is given, expected none besides \`database.clusters\``);
  const isKnown = directory === "" || names.length === 0 || names.includes(directory);
  return [
    ...others,
    ...(isKnown ? [] : ["`database.directory`: names none of the `database.clusters`"]),
    ...(values.get("database.engine") === "memory"
      ? ["`database.clusters`: is given, expected none since `database.engine` is `memory`"]
      : []),
  ];
}

/**
 * A key in `authn.preshared.keys` has no limits, so listing it as a limited key would have no
 * effect.
 */
function keysTwice(values: OptionValues): readonly string[] {
  const full = listIn(values, "authn.preshared.keys");
  return listIn(values, "authn.preshared.scoped").flatMap((entry, nth) =>
    typeof entry === "object" && entry !== null && "key" in entry && full.includes(entry.key)
      ? [
          `\`authn.preshared.scoped[${nth}].key\`: is one of \`authn.preshared.keys\`, which may do everything`,
        ]
      : [],
  );
}

function listIn(values: OptionValues, key: OptionKey): readonly unknown[] {
  const value = values.get(key);
  return Array.isArray(value) ? value : [];
}

/** The listeners, with their keys and conditions. An empty host means all addresses. */
const listeners: readonly {
  readonly port: OptionKey;
  readonly isOn: (values: OptionValues) => boolean;
  readonly host: (values: OptionValues) => unknown;
}[] = [
  { port: "server.http.port", isOn: isTrue("server.http.enabled"), host: serverHost },
  { port: "server.grpc.port", isOn: () => true, host: serverHost },
  {
    port: "meter.prometheus.port",
    isOn: isTrue("meter.prometheus.enabled"),
    host: (values) => values.get("meter.prometheus.host") || serverHost(values),
  },
  {
    port: "profiler.port",
    isOn: isTrue("profiler.enabled"),
    host: (values) => values.get("profiler.host"),
  },
  { port: "distributed.port", isOn: isTrue("distributed.enabled"), host: serverHost },
];

/** Two listeners on one port. Port 0 is any free port and never clashes. */
function samePorts(values: OptionValues): readonly string[] {
  const open = listeners.filter(({ isOn }) => isOn(values));
  return open.flatMap(({ port, host }, index) => {
    const number = values.get(port);
    if (typeof number !== "number" || number === 0) return [];
    const other = open
      .slice(0, index)
      .find((one) => values.get(one.port) === number && overlap(one.host(values), host(values)));
    return other === undefined
      ? []
      : [`\`${port}\`: is ${number}, which is \`${other.port}\`, expected another port`];
  });
}

function overlap(one: unknown, other: unknown): boolean {
  return one === other || isEverywhere(one) || isEverywhere(other);
}

function isEverywhere(host: unknown): boolean {
  return host === "" || host === "::" || host === "0.0.0.0";
}

function serverHost(values: OptionValues): unknown {
  return values.get("server.host");
}

function isTrue(key: OptionKey): (values: OptionValues) => boolean {
  return (values) => values.get(key) === true;
}

function missing(values: OptionValues): readonly string[] {
  return needs
    .filter(({ when }) => when(values))
    .flatMap(({ keys, expected }) =>
      keys
        .filter((key) => !has(values, key))
        .map((key) => `\`${key}\`: is empty, expected ${expected}`),
    );
}

function asks(values: OptionValues, method: string): boolean {
  return values.get("authn.enabled") === true && values.get("authn.method") === method;
}

/** A key with an invalid value has been reported, and counts as given. */
function has(values: OptionValues, key: OptionKey): boolean {
  const value = values.get(key);
  return value !== "" && !(Array.isArray(value) && value.length === 0);
}

/**
 * Keys that have no effect while another key has this value, although they are meant to protect
 * something.
 */
interface Protection {
  readonly switch: OptionKey;
  readonly off: boolean | string;
  readonly keys: readonly OptionKey[];
}

const protections: readonly Protection[] = [
  {
    switch: "authn.enabled",
    off: false,
    keys: [
      "authn.method",
      "authn.preshared.keys",
      "authn.preshared.scoped",
      "authn.oidc.issuer",
      "authn.oidc.audience",
      "authn.oidc.scope_claim",
      "authn.oidc.tenant_claim",
    ],
  },
  { switch: "authn.method", off: "oidc", keys: ["authn.preshared.scoped"] },
  {
    switch: "authn.method",
    off: "preshared",
    keys: ["authn.oidc.scope_claim", "authn.oidc.tenant_claim"],
  },
  ...(["http", "grpc"] as const).map((listener): Protection => ({
    switch: `server.${listener}.tls.enabled`,
    off: false,
    keys: [`server.${listener}.tls.cert`, `server.${listener}.tls.key`],
  })),
];

/** One message for each switch that is off while the keys that it would enable are given. */
export function unusedProtections(
  values: OptionValues,
  settings: ReadonlyMap<OptionKey, Setting>,
): readonly string[] {
  return protections.flatMap(({ switch: key, off, keys }) => {
    const given = keys.filter((one) => (settings.get(one)?.text.length ?? 0) > 0);
    if (values.get(key) !== off || given.length === 0) return [];
    const names = given.map((one) => `\`${one}\``).join(", ");
    return [`\`${key}\`: is ${off}, so nothing is protected by ${names}`];
  });
}

/** A message if every client that reaches the port for instances could use it without a key. */
export function unguardedPeers(values: OptionValues): readonly string[] {
  if (values.get("distributed.enabled") !== true || values.get("authn.enabled") !== false)
    return [];
  const keys = values.get("distributed.preshared.keys");
  const host = values.get("server.host");
  const isGuarded = !Array.isArray(keys) || keys.length > 0;
  if (isGuarded || typeof host !== "string" || isLoopback(host)) return [];
  return [
    "`distributed.port`: answers checks of all tenants to every client that reaches it, set `distributed.preshared.keys`",
  ];
}
