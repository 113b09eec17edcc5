import { keyNames, suggestVariable } from "./key-name.ts";
import { variablePrefix } from "./option.ts";
import type { Setting, Source } from "./setting.ts";

const nameOf = new Map(
  keyNames.flatMap(({ name, variables }) => variables.map((variable) => [variable, name])),
);

/** What the environment gives. An empty variable is one that is not set, as compose files leave them. */
export function readVariables(env: Readonly<Record<string, string | undefined>>): Source {
  const settings = new Map<string, Setting>();
  const problems: string[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(variablePrefix) || text === undefined || text === "") continue;
    const name = nameOf.get(variable);
    const other = name === undefined ? undefined : settings.get(name);
    if (name === undefined) {
      const meant = suggestVariable(variable);
      problems.push(`${variable}: no key of the configuration has this variable${meant}`);
    } else if (other !== undefined && other.text !== text) {
      problems.push(`${variable}: \`${name}\` has another value in ${other.place}`);
    } else {
      settings.set(name, { name, source: "variable", text, place: variable });
    }
  }
  return { settings, problems };
}
