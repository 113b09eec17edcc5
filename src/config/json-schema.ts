import { shownValue } from "./effective.ts";
import { keyNames } from "./key-name.ts";
import type { OptionSchema } from "./kind.ts";
import type { Option } from "./option.ts";
import { options } from "./options.ts";

/** A level of the file: sections by name, and keys. */
interface Section {
  readonly sections: Map<string, Section>;
  readonly keys: Map<string, OptionSchema>;
}

/**
 * The JSON Schema (2020-12) of the YAML file, for editors. It checks each value. Dependencies
 * between keys are checked at the start of the server.
 */
export function configurationSchema(): OptionSchema {
  const root: Section = { sections: new Map(), keys: new Map() };
  for (const { name, key } of keyNames) {
    const steps = name.split(".");
    const last = steps.pop() ?? name;
    const option: Option<unknown> = options[key];
    sectionAt(root, steps).keys.set(last, keySchema(option, name === key ? undefined : key));
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Pemba",
    ...sectionSchema(root),
  };
}

function sectionAt(root: Section, steps: readonly string[]): Section {
  let section = root;
  for (const step of steps) {
    const below = section.sections.get(step) ?? { sections: new Map(), keys: new Map() };
    section.sections.set(step, below);
    section = below;
  }
  return section;
}

/** A section may be empty, which YAML reads as null. */
function sectionSchema({ sections, keys }: Section): OptionSchema {
  const below = [...sections].map(([step, section]) => [step, sectionSchema(section)] as const);
  return {
    type: ["object", "null"],
    additionalProperties: false,
    properties: Object.fromEntries([...keys, ...below]),
  };
}

function keySchema(option: Option<unknown>, replacement: string | undefined): OptionSchema {
  const { kind, about } = option;
  const anyOf = [kind.schema, { type: "null" }];
  if (replacement !== undefined) {
    return { description: `in favour of ${replacement}`, deprecated: true, anyOf };
  }
  return {
    description: `${about}; ${kind.expected}`,
    default: shownValue(option, option.default),
    anyOf,
  };
}
