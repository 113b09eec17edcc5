import { must } from "../base/assert.ts";
import type { Kind } from "./kind.ts";

/** One key of the configuration, from which its YAML path, flag, variable and help follow. */
export interface Option<T> extends Details {
  readonly kind: Kind<T>;
  /** Values are never shown. */
  readonly secret: boolean;
}

interface Details {
  /** As it would be written in a file. */
  readonly default: string;
  /** Without its dashes; the variable is its upper-case form with `SERVICE_` before it. */
  readonly flag: string;
  /** One sentence without an end. */
  readonly about: string;
  /** Another name of its variable, which does not follow from the flag; `SERVICE_` comes before it. */
  readonly otherVariable?: string;
  /** A deprecated key that means the same. */
  readonly former?: { readonly key: string; readonly flag: string };
}

/** An entry of the table of keys. */
export function option<T>(kind: Kind<T>, details: Details & { readonly secret?: true }): Option<T> {
  return { kind, secret: false, ...details };
}

/** The defaults are written by us, so they are values of their kinds. */
export function defaultOf<T>(given: Option<T>): T {
  return must(given.kind.read(given.default), `a default that is not ${given.kind.expected}`);
}

/** The variable of a flag: `http-port` is `SERVICE_HTTP_PORT`. */
export function variableOf(flag: string): string {
  return `${variablePrefix}${flag.toUpperCase().replaceAll("-", "_")}`;
}

/** What every variable of the configuration begins with. */
export const variablePrefix = "SERVICE_";
