import type { OptionKey } from "./options.ts";

type Values = ReadonlyMap<OptionKey, unknown>;

/** Keys that must have a value, and why, when another key has this one. */
interface Need {
  readonly when: (values: Values) => boolean;
  readonly keys: readonly OptionKey[];
  readonly expected: string;
}

const needs: readonly Need[] = [
  {
    when: (values) =>
      values.get("database.engine") === "postgres" && !has(values, "database.writer.uri"),
    keys: ["database.uri"],
    expected: "a URI since `database.engine` is `postgres`",
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
    when: (values) => asks(values, "preshared"),
    keys: ["authn.preshared.keys"],
    expected: "at least one key since `authn.method` is `preshared`",
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
    when: (values) => values.get("distributed.enabled") === true && asks(values, "oidc"),
    keys: ["authn.preshared.keys"],
    expected:
      "a key that instances know each other by, since `distributed.enabled` is true and clients have tokens of an issuer",
  },
];

/** What no single key can tell, a sentence each; a key whose value is not allowed has none here. */
export function contradictions(values: Values): readonly string[] {
  return [...clashes(values), ...missing(values)];
}

function clashes(values: Values): readonly string[] {
  const isAlone = values.get("database.engine") === "memory";
  return isAlone && values.get("distributed.enabled") === true
    ? ["`distributed.enabled`: is true, expected false since `database.engine` is `memory`"]
    : [];
}

function missing(values: Values): readonly string[] {
  return needs
    .filter(({ when }) => when(values))
    .flatMap(({ keys, expected }) =>
      keys
        .filter((key) => !has(values, key))
        .map((key) => `\`${key}\`: is empty, expected ${expected}`),
    );
}

function asks(values: Values, method: string): boolean {
  return values.get("authn.enabled") === true && values.get("authn.method") === method;
}

/** A key without a value has been reported, and counts as given. */
function has(values: Values, key: OptionKey): boolean {
  const value = values.get(key);
  return value !== "" && !(Array.isArray(value) && value.length === 0);
}
