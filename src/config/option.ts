import { must } from "../base/assert.ts";
import type { Kind } from "./kind.ts";

/** One key of the configuration. Its YAML path, flag, variable and help follow from it. */
export interface Option<T> extends OptionDetails {
  readonly kind: Kind<T>;
  /** Values are never shown. */
  readonly secret: boolean;
}

interface OptionDetails {
  /** As it is written in a file. */
  readonly default: string;
  /** Without its dashes. The variable is its upper-case form with `SERVICE_` before it. */
  readonly flag: string;
  /** One phrase without a full stop. */
  readonly about: string;
  /** Another name of its variable that does not follow from the flag, without `SERVICE_`. */
  readonly otherVariable?: string;
  /** A deprecated key with the same meaning. */
  readonly former?: { readonly key: string; readonly flag: string };
}

/** An entry of the table of keys. */
export function option<T>(
  kind: Kind<T>,
  details: OptionDetails & { readonly secret?: true },
): Option<T> {
  return { kind, secret: false, ...details };
}

/** The default value. It is valid, because defaults are part of the code. */
export function defaultOf<T>(given: Option<T>): T {
  return must(given.kind.read(given.default), `a default that is not ${given.kind.expected}`);
}

/** The variable of a flag: `http-port` is `SERVICE_HTTP_PORT`. */
export function variableOf(flag: string): string {
  return `${variablePrefix}${flag.toUpperCase().replaceAll("-", "_")}`;
}

/** The prefix of every variable of the configuration. */
export const variablePrefix = "SERVICE_";
