import { mask, maskPasswords } from "./mask.ts";
import type { Option } from "./option.ts";

/** A value as JSON has it: with its unit where it has one, as a list where it is one. */
export type ShownValue = string | number | boolean | readonly string[] | readonly object[];

/** A value that is allowed, in a form that may be shown; `text` is what was given for it. */
export function shownValue(option: Option<unknown>, text: string | readonly string[]): ShownValue {
  const { kind, secret } = option;
  if (kind.show !== undefined && typeof text === "string") return kind.show(text);
  const value = typeof text === "string" ? kind.read(text) : kind.readItems?.(text);
  const show = (part: string): string =>
    secret ? (kind.mask?.(part) ?? mask(part)) : maskPasswords(part);
  if (Array.isArray(value)) return value.map((item) => show(String(item)));
  if (secret || typeof text !== "string") return show(text.toString());
  // A number that is not written as such has a unit, which is lost when it is read.
  const isPlain = typeof value === "boolean" || (typeof value === "number" && `${value}` === text);
  return isPlain ? value : maskPasswords(text);
}
