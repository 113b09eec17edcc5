import type { OptionKey } from "./options.ts";
import type { Setting } from "./setting.ts";

type Values = ReadonlyMap<OptionKey, unknown>;

/** What has no effect while another key has this value, though it is given to protect something. */
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

/** A sentence for each switch that is off while what it would make use of is given. */
export function unusedProtections(
  values: Values,
  settings: ReadonlyMap<OptionKey, Setting>,
): readonly string[] {
  return protections.flatMap(({ switch: key, off, keys }) => {
    const given = keys.filter((one) => (settings.get(one)?.text.length ?? 0) > 0);
    if (values.get(key) !== off || given.length === 0) return [];
    const names = given.map((one) => `\`${one}\``).join(", ");
    return [`\`${key}\`: is ${off}, so nothing is protected by ${names}`];
  });
}
