import type { OptionKey } from "./options.ts";
import type { Setting } from "./setting.ts";

type Values = ReadonlyMap<OptionKey, unknown>;

/** What has no effect while a switch is off, though whoever gives it means to be protected by it. */
const protections: readonly { readonly switch: OptionKey; readonly keys: readonly OptionKey[] }[] =
  [
    {
      switch: "authn.enabled",
      keys: ["authn.method", "authn.preshared.keys", "authn.oidc.issuer", "authn.oidc.audience"],
    },
    ...(["http", "grpc"] as const).map((listener) => ({
      switch: `server.${listener}.tls.enabled` as const,
      keys: [`server.${listener}.tls.cert`, `server.${listener}.tls.key`] as const,
    })),
  ];

/** A sentence for each switch that is off while what it would make use of is given. */
export function unusedProtections(
  values: Values,
  settings: ReadonlyMap<OptionKey, Setting>,
): readonly string[] {
  return protections.flatMap((protection) => {
    const given = protection.keys.filter((key) => (settings.get(key)?.text.length ?? 0) > 0);
    if (values.get(protection.switch) !== false || given.length === 0) return [];
    const names = given.map((key) => `\`${key}\``).join(", ");
    return [`\`${protection.switch}\`: is false, so nothing is protected by ${names}`];
  });
}
