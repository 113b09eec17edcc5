/**
 * A kind of value that a key can have. Files, variables and flags all give text; one reader turns
 * it into the value, so the three mean the same.
 */
export interface Kind<T> {
  /** What is allowed, as it stands in help and in errors after "expected". */
  readonly expected: string;
  /** Flags of this kind may stand without a value, which then is this text. */
  readonly bare?: string;
  /** Undefined when the text is no such value. */
  read(text: string): T | undefined;
  /** The same for a list of a file; kinds of one value have none. */
  readItems?(items: readonly string[]): T | undefined;
}

export const anyText: Kind<string> = { expected: "text", read: (text) => text };

export const boolean: Kind<boolean> = {
  expected: "true or false",
  bare: "true",
  read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

export function integer(range: { readonly from: number; readonly to: number }): Kind<number> {
  return {
    expected: `a whole number from ${range.from} to ${range.to}`,
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
    read: (text) => choices.find((choice) => choice === text),
  };
}

/** One of the kind, or nothing, which is the empty text. */
export function maybe<T extends string>(kind: Kind<T>): Kind<T | ""> {
  return { ...kind, read: (text) => (text === "" ? "" : kind.read(text)) };
}

/** Several of a kind; in one text they have commas between them. */
export function listOf<T>(item: Kind<T>): Kind<readonly T[]> {
  const readItems = (items: readonly string[]): readonly T[] | undefined => {
    const values = items.map((text) => item.read(text)).filter((value) => value !== undefined);
    return values.length === items.length ? values : undefined;
  };
  return {
    expected: `a list of ${item.expected}`,
    readItems,
    read: (text) => (text === "" ? [] : readItems(text.split(",").map((part) => part.trim()))),
  };
}

/** What can stand in a header whatever reads it. */
export const headerWord: Kind<string> = {
  expected: "texts of visible ASCII characters without spaces",
  read: (text) => (/^[!-~]+$/.test(text) ? text : undefined),
};

/** The identifier of an issuer, to the letter. */
export const issuerUrl: Kind<string> = {
  expected: "a URL such as https://issuer.example without credentials, query and fragment",
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
const durationText = /^(\d+(\.\d+)?(ms|s|m|h))+$/;

/** Text such as `1h30m`, read as milliseconds. */
export const duration: Kind<number> = {
  expected: "a duration with its unit, such as 500ms, 60s, 15m or 1h30m",
  read: (text) => {
    if (text === "0") return 0;
    if (!durationText.test(text)) return undefined;
    const parts = text.matchAll(/([\d.]+)(ms|s|m|h)/g);
    const total = parts.reduce(
      (sum, [, amount, unit]) => sum + Number(amount) * (unitMilliseconds[unit ?? ""] ?? 0),
      0,
    );
    return total <= Number.MAX_SAFE_INTEGER ? Math.round(total) : undefined;
  },
};

/** The longest that the clock of a database can be put back by. */
const longestDurationHours = 876_000;

/** A duration that something is done after, or for: not at once, and not beyond all calendars. */
export const someDuration: Kind<number> = {
  expected: `a duration from 1ms to ${longestDurationHours}h`,
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

/** Text such as `10MiB`, read as bytes. */
export const size: Kind<number> = {
  expected: "a size such as 1000, 64KiB or 10MiB",
  read: (text) => {
    const [, amount, unit] = /^(\d+(?:\.\d+)?) ?([a-zA-Z]*)$/.exec(text) ?? [];
    const factor = unitBytes[(unit ?? "").toUpperCase()];
    const bytes = Number(amount) * (factor ?? Number.NaN);
    return Number.isSafeInteger(Math.round(bytes)) ? Math.round(bytes) : undefined;
  },
};

export const postgresUri: Kind<string> = {
  expected: "a URI such as postgres://user:password@host:5432/database",
  read: (text) => (text === "" || isPostgresUri(text) ? text : undefined),
};

function isPostgresUri(text: string): boolean {
  const [, start, hosts, rest] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (start === undefined || hosts === undefined || rest === undefined) return false;
  if (hosts + rest === "") return false;
  // Of several hosts, which the driver takes with commas between, a URL has one.
  const url = URL.parse(start + (hosts.split(",")[0] ?? "") + rest);
  return url !== null && [url.username, url.password, url.pathname].every(isDecodable);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    // The one thing that it throws for is an escape such as `%zz`.
    return false;
  }
}
