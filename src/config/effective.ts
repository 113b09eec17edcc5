import { mask, maskPasswords } from "./mask.ts";
import type { Option } from "./option.ts";
import { type OptionKey, optionKeys, options } from "./options.ts";
import type { Setting, SourceKind } from "./setting.ts";

/** A key with its value in effect, safe to be shown. */
export interface Effective {
  readonly key: OptionKey;
  readonly value: ShownValue;
  readonly source: SourceKind | "default";
  /** The flag, the variable or the line of the file. Empty for a default. */
  readonly place: string;
}

/** Every key, in the order of the documentation. */
export function effective(settings: ReadonlyMap<OptionKey, Setting>): readonly Effective[] {
  return optionKeys.map((key) => {
    const option: Option<unknown> = options[key];
    const { text, source, place } = settings.get(key) ?? {
      text: option.default,
      source: "default" as const,
      place: "",
    };
    return { key, value: shownValue(option, text), source, place };
  });
}

/** A value in JSON: with its unit if it has one, as a list if it is one. */
export type ShownValue = string | number | boolean | readonly string[] | readonly object[];

/** A valid value in a form that may be shown. `text` is what was given for it. */
export function shownValue(option: Option<unknown>, text: string | readonly string[]): ShownValue {
  const { kind, secret } = option;
  if (kind.show !== undefined && typeof text === "string") return kind.show(text);
  const value = typeof text === "string" ? kind.read(text) : kind.readItems?.(text);
  const show = (part: string): string =>
    secret ? (kind.mask?.(part) ?? mask(part)) : maskPasswords(part);
  if (Array.isArray(value)) return value.map((item) => show(String(item)));
  if (secret || typeof text !== "string") return show(text.toString());
  // A number in another form has a unit, which reading it loses.
  const isPlain = typeof value === "boolean" || (typeof value === "number" && `${value}` === text);
  return isPlain ? value : maskPasswords(text);
}
