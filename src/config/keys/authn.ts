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
    about: "what a token is: one of the keys of this server, or signed by an issuer",
  }),
  "authn.preshared.keys": option(listOf(headerWord), {
    flag: "authn-preshared-keys",
    default: "",
    about: "the keys, each of which may do everything in every tenant",
    secret: true,
  }),
  "authn.preshared.scoped": option(scopedKeys, {
    flag: "authn-preshared-scoped",
    default: "",
    about:
      "keys that may do a part of that, of all tenants or some; the log knows each by its name",
    secret: true,
  }),
  "authn.oidc.issuer": option(maybe(issuerUrl), {
    flag: "authn-oidc-issuer",
    default: "",
    about: "OpenID Connect issuer, to the letter as it stands in tokens",
  }),
  "authn.oidc.audience": option(anyText, {
    flag: "authn-oidc-audience",
    default: "",
    about: "audience that a token must be for",
  }),
  "authn.oidc.refresh_interval": option(someDuration, {
    flag: "authn-oidc-refresh-interval",
    default: "15m",
    about: "time from one fetch of the keys of the issuer to the next",
  }),
  "authn.oidc.backoff_interval": option(someDuration, {
    flag: "authn-oidc-backoff-interval",
    default: "12s",
    about:
      "time from a fetch that failed to the next, doubled each time; unknown keys cause no more than `backoff_max_retries` fetches within it",
  }),
  "authn.oidc.backoff_frequency": option(duration, {
    flag: "authn-oidc-backoff-frequency",
    default: "0s",
    about: "least time between two fetches that tokens with unknown keys cause",
  }),
  "authn.oidc.backoff_max_retries": option(integer({ from: 1, to: 1_000 }), {
    flag: "authn-oidc-backoff-max-retries",
    default: "5",
    about: "how often a fetch that failed is repeated before the next interval",
    otherVariable: "AUTHN_OIDC_BACKOFF_RETRIES",
  }),
  "authn.oidc.valid_methods": option(listOf(oneOf(...signingMethods)), {
    flag: "authn-oidc-valid-methods",
    default: "RS256,HS256",
    about: "signing algorithms of tokens that are accepted",
  }),
  "authn.oidc.scope_claim": option(anyText, {
    flag: "authn-oidc-scope-claim",
    default: "",
    about: "claim with the scopes of a token, which may do nothing else; empty for everything",
  }),
  "authn.oidc.tenant_claim": option(anyText, {
    flag: "authn-oidc-tenant-claim",
    default: "",
    about: "claim with the tenants of a token, `*` for all; empty for all tenants with any token",
  }),
} as const;
