/**
 * The functions of the CEL standard library that rules may call. Extensions of the parser's library
 * are refused, and so are functions that are not supported yet (`gaps`). Both are refused when the
 * rule is compiled.
 */
export const functionNames = [
  "bool",
  "bytes",
  "double",
  "duration",
  "dyn",
  "int",
  "matches",
  "size",
  "string",
  "timestamp",
  "type",
] as const;

export type FunctionName = (typeof functionNames)[number];

export const methodNames = [
  "contains",
  "endsWith",
  "getDate",
  "getDayOfMonth",
  "getDayOfWeek",
  "getDayOfYear",
  "getFullYear",
  "getHours",
  "getMilliseconds",
  "getMinutes",
  "getMonth",
  "getSeconds",
  "matches",
  "size",
  "startsWith",
] as const;

export type MethodName = (typeof methodNames)[number];

/** Types whose names are values in CEL, with the checker's spelling of each. */
export const typeNames = [
  "bool",
  "bytes",
  "double",
  "int",
  "list",
  "map",
  "null_type",
  "string",
  "type",
] as const;

/** Functions of the standard library that are refused: the name, and the advice for the user. */
const gaps: ReadonlyMap<string, string> = new Map([
  ["uint", "unsigned integers are not supported"],
]);

/** What other languages call the present time, as a function or as a name. */
const clocks: ReadonlySet<string> = new Set([
  "clock",
  "current_time",
  "current_timestamp",
  "currentTime",
  "currentTimestamp",
  "date",
  "getTime",
  "now",
  "time",
  "today",
  "utcnow",
]);

/** What to write for a name that no rule knows. Undefined if there is nothing to say of it. */
export function adviceFor(name: string): string | undefined {
  if (clocks.has(name)) {
    return `\`${name}\`: a rule has no clock, send the time in \`context.data\` and read it, such as \`timestamp(context.data.now)\``;
  }
  return gaps.get(name);
}

const functions: ReadonlySet<string> = new Set(functionNames);
const methods: ReadonlySet<string> = new Set(methodNames);

export function isFunctionName(name: string): name is FunctionName {
  return functions.has(name);
}

export function isMethodName(name: string): name is MethodName {
  return methods.has(name);
}
