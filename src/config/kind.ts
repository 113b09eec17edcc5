import { isIP } from "node:net";

import { suggest } from "../base/suggest.ts";

/** A part of a JSON Schema. */
export type OptionSchema = Readonly<Record<string, unknown>>;

/** What is wrong with a part of a value. */
export interface ValueFault {
  /** The path of the part, such as `[1].scopes[0]`. Empty for the whole value. */
  readonly place: string;
  readonly problem: string;
}

/**
 * A kind of value that a key can have. Files, variables and flags all give text. One reader turns
 * it into the value, so all three mean the same.
 */
export interface Kind<T> {
  /** The allowed values, as help and errors show them after "expected". */
  readonly expected: string;
  /** The value of a flag of this kind that is given without a value. */
  readonly bare?: string;
  /** Flags of this kind may be given several times, and add up. */
  readonly isList?: true;
  /**
   * Values have named parts. A file gives them as lists and maps, other sources as one JSON text.
   */
  readonly isTree?: true;
  /** The JSON Schema of the value in a YAML file, as far as it can be expressed. */
  readonly schema: OptionSchema;
  /** The part of a secret of this kind that may be shown. If undefined, nothing may be shown. */
  mask?(text: string): string;
  /**
   * ` (did you mean ...?)` for a refused text, or "". Shows no more of a secret than `mask`.
   * Secrets of a kind without `mask` get no hint.
   */
  hint?(text: string): string;
  /**
   * What is wrong with each part of a refused text. If undefined, the error only lists what is
   * allowed. Shows nothing of a secret.
   */
  faults?(text: string): readonly ValueFault[];
  /** The value in a form that may be shown, if it is not a text. */
  show?(text: string): readonly object[];
  /** Undefined if the text is not such a value. */
  read(text: string): T | undefined;
  /** The same for a list in a file. Kinds with a single value have none. */
  readItems?(items: readonly string[]): T | undefined;
}

/** The types in YAML that are read from their source text: `keys: [007]`. */
export const scalar = ["string", "number", "boolean"];

export const anyText: Kind<string> = {
  expected: "text",
  schema: { type: scalar },
  read: (text) => text,
};

const truths: ReadonlyMap<string, boolean> = new Map([
  ...["true", "True", "TRUE"].map((text) => [text, true] as const),
  ...["false", "False", "FALSE"].map((text) => [text, false] as const),
]);

/** In the spelling of YAML. */
export const boolean: Kind<boolean> = {
  expected: "true or false",
  bare: "true",
  schema: { enum: [true, false, ...truths.keys()] },
  read: (text) => truths.get(text),
};

export function integer(range: { readonly from: number; readonly to: number }): Kind<number> {
  return {
    expected: `a whole number from ${range.from} to ${range.to}`,
    schema: {
      anyOf: [
        { type: "integer", minimum: range.from, maximum: range.to },
        { type: "string", pattern: String.raw`^\d+$` },
      ],
    },
    read: (text) => {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return value >= range.from && value <= range.to ? value : undefined;
    },
  };
}

export const port: Kind<number> = {
  ...integer({ from: 0, to: 65_535 }),
  expected: "a port from 0 to 65535 (0 is any free one)",
};

export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  return {
    expected: choices.join(", ").replace(/, ([^,]*)$/, " or $1"),
    schema: { enum: choices },
    hint: (text) =>
      choices.some((choice) => choice === text.toLowerCase())
        ? ` (did you mean \`${text.toLowerCase()}\`?)`
        : suggest(text, choices),
    read: (text) => choices.find((choice) => choice === text),
  };
}

/** A value of the kind, or the empty text for none. */
export function maybe<T extends string>(kind: Kind<T>): Kind<T | ""> {
  return {
    ...kind,
    schema: { anyOf: [{ const: "" }, kind.schema] },
    read: (text) => (text === "" ? "" : kind.read(text)),
  };
}

/** A list of values of the kind. In one text they are separated by commas. */
export function listOf<T>(item: Kind<T>): Kind<readonly T[]> {
  const readItems = (items: readonly string[]): readonly T[] | undefined => {
    const values = items.map((text) => item.read(text)).filter((value) => value !== undefined);
    return values.length === items.length ? values : undefined;
  };
  return {
    expected: `a list of ${item.expected}`,
    isList: true,
    schema: { anyOf: [{ type: "array", items: item.schema }, { type: scalar }] },
    readItems,
    read: (text) => (text === "" ? [] : readItems(text.split(",").map((part) => part.trim()))),
  };
}

/** A word that is valid in any header. */
export const headerWord: Kind<string> = {
  expected: "texts of visible ASCII characters without spaces",
  schema: { type: scalar, pattern: "^[!-~]+$" },
  read: (text) => (/^[!-~]+$/.test(text) ? text : undefined),
};

/** A secret that is too long to be guessed. */
export const longSecret: Kind<string> = {
  expected: "16 or more visible ASCII characters without spaces",
  schema: { type: scalar, pattern: "^[!-~]{16,}$" },
  read: (text) => (/^[!-~]{16,}$/.test(text) ? text : undefined),
};

/** A host to connect to or to listen on. */
export const host: Kind<string> = {
  expected: "a host name or an IP address, without a port",
  schema: { type: scalar, pattern: String.raw`^[\w.:%-]+$` },
  read: (text) => (isIP(text) !== 0 || isHostName(text) ? text : undefined),
};

/** A name whose last part is a number is an IP address or invalid. */
function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, "").split(".");
  const isLabel = (label: string): boolean => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/i.test(label);
  return text.length < 254 && labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) ?? "");
}

/** A site that a browser may call from: its origin, or all. */
export const origin: Kind<string> = {
  expected: "origins such as https://app.example, or *",
  schema: { type: "string", pattern: String.raw`^(\*|https?://[^*/?#@\s]+)$` },
  read: (text) => {
    const isOrigin = /^https?:[^*]*$/.test(text) && URL.parse(text)?.origin === text;
    return text === "*" || isOrigin ? text : undefined;
  },
};

/** The name of a header, or all. */
export const headerName: Kind<string> = {
  expected: "names of headers such as authorization, or *",
  schema: { type: scalar, pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
  read: (text) => (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text) ? text : undefined),
};

/** The identifier of an issuer, exactly as in tokens. */
export const issuerUrl: Kind<string> = {
  expected: "a URL such as https://issuer.example without credentials, query and fragment",
  schema: { type: "string", pattern: String.raw`^https?://[^?#@\s]+$` },
  read: (text) => {
    const url = /[?#@\s]/.test(text) ? null : URL.parse(text);
    return /^https?:$/.test(url?.protocol ?? "") ? text : undefined;
  },
};

const unitMilliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const durationText = String.raw`(\d+(\.\d+)?(ms|s|m|h))+`;

/** A missing unit is the most common mistake. */
function hintUnit(text: string): string {
  return /^\d+(\.\d+)?$/.test(text) ? ` (did you mean \`${text}s\`, which are seconds?)` : "";
}

/** A text such as `1h30m`, in milliseconds. */
export const duration: Kind<number> = {
  expected: "a duration with its unit, such as 500ms, 60s, 15m or 1h30m",
  schema: { anyOf: [{ type: "string", pattern: `^(0|${durationText})$` }, { const: 0 }] },
  hint: hintUnit,
  read: (text) => {
    if (text === "0") return 0;
    if (!new RegExp(`^${durationText}$`).test(text)) return undefined;
    const parts = text.matchAll(/([\d.]+)(ms|s|m|h)/g);
    const total = parts.reduce(
      (sum, [, amount, unit]) => sum + Number(amount) * (unitMilliseconds[unit ?? ""] ?? 0),
      0,
    );
    return total <= Number.MAX_SAFE_INTEGER ? Math.round(total) : undefined;
  },
};

/** The longest time that the clock of a database can be set back. */
const longestDurationHours = 876_000;

/** A duration of a timer or an interval: not zero, and not beyond all calendars. */
export const someDuration: Kind<number> = {
  expected: `a duration from 1ms to ${longestDurationHours}h`,
  schema: { type: "string", pattern: `^(?=.*[1-9])${durationText}$` },
  hint: hintUnit,
  read: (text) => {
    const value = duration.read(text);
    if (value === undefined || value < 1) return undefined;
    return value <= longestDurationHours * 3_600_000 ? value : undefined;
  },
};

const unitBytes: Readonly<Record<string, number>> = {
  "": 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
};

/** A text such as `10MiB`, in bytes. */
export const size: Kind<number> = {
  expected: "a size such as 1000, 64KiB or 10MiB, but not 0",
  schema: {
    anyOf: [
      { type: "number", exclusiveMinimum: 0 },
      {
        type: "string",
        pattern: String.raw`^(?=.*[1-9])\d+(\.\d+)? ?([bB]|[kKmMgG][iI]?[bB])?$`,
      },
    ],
  },
  read: (text) => {
    const [, amount, unit] = /^(\d+(?:\.\d+)?) ?([a-zA-Z]*)$/.exec(text) ?? [];
    const factor = unitBytes[(unit ?? "").toUpperCase()];
    const bytes = Math.round(Number(amount) * (factor ?? Number.NaN));
    return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
  },
};
