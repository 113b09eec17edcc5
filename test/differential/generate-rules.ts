import type { AttributeType } from "../../src/base/tuple.ts";

/** The type that each attribute name has, unless a later schema version changes it. */
export const attributePool: readonly { readonly name: string; readonly type: AttributeType }[] = [
  { name: "open", type: "boolean" },
  { name: "locked", type: "boolean" },
  { name: "level", type: "integer" },
  { name: "city", type: "string" },
  { name: "score", type: "double" },
  { name: "tags", type: "string[]" },
  { name: "codes", type: "integer[]" },
  { name: "rates", type: "double[]" },
  { name: "flags", type: "boolean[]" },
];

export interface RuleTemplate {
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly type: AttributeType }[];
  readonly body: string;
}

function rule(name: string, parameters: readonly string[], body: string): RuleTemplate {
  const known = attributePool.filter((one) => parameters.includes(one.name));
  return { name, parameters: known, body };
}

/** Rules that hold, fail and fault about equally often on the values of the generated cases. */
export const rulePool: readonly RuleTemplate[] = [
  rule("level_high", ["level"], "level >= 2"),
  rule("level_within", ["level"], "level <= context.data.limit"),
  rule("level_ratio", ["level"], "10 / level > 3"),
  rule("level_even", ["level"], "level % 2 == 0"),
  rule("level_grows", ["level"], "level + 1 > level && level < 2147483647"),
  rule(
    "level_guarded",
    ["level"],
    "!has(context.data.limit) || (context.data.limit > 1 && level > 0)",
  ),
  rule("level_lasts", ["level"], 'timestamp(context.data.now) < timestamp(level) + duration("1s")'),
  rule("level_odd", ["level"], "timestamp(level).getSeconds() % 2 == 1"),
  rule("flagged", [], "context.data.flag == true"),
  rule("score_low", ["score"], "score < 1.5"),
  rule("score_within", ["score"], "score * 2.0 > context.data.limit"),
  rule("city_named", ["city"], 'city == "paris" || city in ["rome", ""]'),
  rule("city_asked", ["city"], "city == context.data.city"),
  rule("city_short", ["city"], "size(city) <= 4 && city.startsWith(context.data.prefix)"),
  rule("city_converted", ["city", "level"], "city == string(level) || int(city) > 1"),
  rule("tag_held", ["tags"], 'context.data.tag in tags || "all" in tags'),
  rule("tag_first", ["tags"], 'tags[0] == "a"'),
  rule("tag_some", ["tags"], "tags.exists(tag, tag == context.data.tag)"),
  rule("code_listed", ["codes", "level"], "level in codes"),
  rule("code_second", ["codes"], "codes[1] > 1"),
  rule("rate_some", ["rates"], "size(rates) > 1 && rates[0] < rates[1]"),
  rule("flag_first", ["flags"], "size(flags) > 0 ? flags[0] : context.data.flag == true"),
  rule("flag_asked", ["open"], "open || context.data.flag"),
  rule("switched", ["open", "city"], "open == true && city != context.data.city"),
  rule("context_only", ["level"], "level >= 0 && context.data.flag"),
  rule("limit_listed", ["level"], "context.data.limit in [1, 2, level]"),
];
