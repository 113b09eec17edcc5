import type { Option } from "./option.ts";
import { type OptionKey, optionKeys, options } from "./options.ts";
import type { Setting, SourceKind } from "./setting.ts";
import { type ShownValue, shownValue } from "./shown-value.ts";

/** One key as it is in effect, safe to be shown. */
export interface Effective {
  readonly key: OptionKey;
  readonly value: ShownValue;
  readonly source: SourceKind | "default";
  /** Of the flag, the variable, the line of the file; empty for a default. */
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
