/** The kinds of tokens, spelled as in the messages of syntax errors. */
export type TokenKind =
  | "IDENT"
  | "STRING"
  | "INTEGER"
  | "DOUBLE"
  | "BOOLEAN"
  | "ENTITY"
  | "RELATION"
  | "PERMISSION"
  | "ATTRIBUTE"
  | "RULE"
  | "AND"
  | "OR"
  | "NOT"
  | "IN"
  | "SEMICOLON"
  | "COMMA"
  | "LCB"
  | "RCB"
  | "LP"
  | "RP"
  | "LSB"
  | "RSB"
  | "ASSIGN"
  | "SIGN"
  | "COLON"
  | "HASH"
  | "QM"
  | "DOT"
  | "EXCL"
  | "PLUS"
  | "MINUS"
  | "TIMES"
  | "DIVIDE"
  | "MOD"
  | "POW"
  | "GT"
  | "LT"
  | "AMPERSAND"
  | "ILLEGAL"
  | "EOF";

/** A token with its range of offsets in the text, `end` exclusive. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

/** Reserved words, in exactly this case. */
export const keywords: ReadonlyMap<string, TokenKind> = new Map([
  ["entity", "ENTITY"],
  ["relation", "RELATION"],
  ["action", "PERMISSION"],
  ["permission", "PERMISSION"],
  ["attribute", "ATTRIBUTE"],
  ["rule", "RULE"],
  ["and", "AND"],
  ["or", "OR"],
  ["not", "NOT"],
  ["in", "IN"],
  ["true", "BOOLEAN"],
  ["false", "BOOLEAN"],
]);

export const punctuation: ReadonlyMap<string, TokenKind> = new Map([
  [";", "SEMICOLON"],
  [",", "COMMA"],
  ["{", "LCB"],
  ["}", "RCB"],
  ["(", "LP"],
  [")", "RP"],
  ["[", "LSB"],
  ["]", "RSB"],
  ["=", "ASSIGN"],
  ["@", "SIGN"],
  [":", "COLON"],
  ["#", "HASH"],
  ["?", "QM"],
  [".", "DOT"],
  ["!", "EXCL"],
  ["+", "PLUS"],
  ["-", "MINUS"],
  ["*", "TIMES"],
  ["/", "DIVIDE"],
  ["%", "MOD"],
  ["^", "POW"],
  [">", "GT"],
  ["<", "LT"],
  ["&", "AMPERSAND"],
]);

/** How a message names an expected kind of token. */
export const spellings: ReadonlyMap<TokenKind, string> = new Map<TokenKind, string>([
  ["IDENT", "a name"],
  ["EOF", "the end of the text"],
  ...[...keywords, ...punctuation].map(([text, kind]) => [kind, `\`${text}\``] as const),
]);
