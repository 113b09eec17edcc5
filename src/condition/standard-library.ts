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
export const gaps: ReadonlyMap<string, string> = new Map([
  ["uint", "unsigned integers are not supported"],
]);

const functions: ReadonlySet<string> = new Set(functionNames);
const methods: ReadonlySet<string> = new Set(methodNames);

export function isFunctionName(name: string): name is FunctionName {
  return functions.has(name);
}

export function isMethodName(name: string): name is MethodName {
  return methods.has(name);
}
