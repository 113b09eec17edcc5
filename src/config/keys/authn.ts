import {
  anyText,
  boolean,
  duration,
  headerWord,
  integer,
  issuerUrl,
  listOf,
  maybe,
  oneOf,
  someDuration,
} from "../kind.ts";
import { option } from "../option.ts";
import { scopedKeys } from "../scoped-keys.ts";

/** The JWS algorithms that prove who signed. `none` does not. */
const rsaMethods = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;
const curveMethods = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const;
const secretMethods = ["HS256", "HS384", "HS512"] as const;
const signingMethods = [...rsaMethods, ...curveMethods, ...secretMethods] as const;

/** Authentication. */
export const authnOptions = {
  "authn.enabled": option(boolean, {
    flag: "authn-enabled",
    default: "false",
    about: "whether every request needs a bearer token",
  }),
  "authn.method": option(maybe(oneOf("preshared", "oidc")), {
    flag: "authn-method",
    default: "",
    about: "kind of tokens: preshared for keys of this server, oidc for tokens of an issuer",
  }),
  "authn.preshared.keys": option(listOf(headerWord), {
    flag: "authn-preshared-keys",
    default: "",
    about: "keys that are allowed everything in all tenants",
    secret: true,
  }),
  "authn.preshared.scoped": option(scopedKeys, {
    flag: "authn-preshared-scoped",
    default: "",
    about: "keys with some scopes, in all or some tenants; the log shows their names",
    secret: true,
  }),
  "authn.oidc.issuer": option(maybe(issuerUrl), {
    flag: "authn-oidc-issuer",
    default: "",
    about: "OpenID Connect issuer, exactly as in the `iss` of its tokens",
  }),
  "authn.oidc.audience": option(anyText, {
    flag: "authn-oidc-audience",
    default: "",
    about: "audience that tokens must have",
  }),
  "authn.oidc.refresh_interval": option(someDuration, {
    flag: "authn-oidc-refresh-interval",
    default: "15m",
    about: "interval between fetches of the keys of the issuer",
  }),
  "authn.oidc.backoff_interval": option(someDuration, {
    flag: "authn-oidc-backoff-interval",
    default: "12s",
    about:
      "wait after a failed fetch, doubled after each; in this time unknown keys cause at most `backoff_max_retries` fetches",
  }),
  "authn.oidc.backoff_frequency": option(duration, {
    flag: "authn-oidc-backoff-frequency",
    default: "0s",
    about: "minimum time between two fetches that unknown keys cause",
  }),
  "authn.oidc.backoff_max_retries": option(integer({ from: 1, to: 1_000 }), {
    flag: "authn-oidc-backoff-max-retries",
    default: "5",
    about: "maximum repetitions of a failed fetch before the next `refresh_interval`",
    otherVariable: "AUTHN_OIDC_BACKOFF_RETRIES",
  }),
  "authn.oidc.valid_methods": option(listOf(oneOf(...signingMethods)), {
    flag: "authn-oidc-valid-methods",
    default: "RS256,HS256",
    about: "accepted signing algorithms",
  }),
  "authn.oidc.scope_claim": option(anyText, {
    flag: "authn-oidc-scope-claim",
    default: "",
    about: "claim with the scopes of a token; if empty, tokens are allowed everything",
  }),
  "authn.oidc.tenant_claim": option(anyText, {
    flag: "authn-oidc-tenant-claim",
    default: "",
    about: "claim with the tenants of a token, `*` for all; if empty, tokens are for all tenants",
  }),
} as const;
