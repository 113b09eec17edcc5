import { printExpression } from "../../language/print.ts";
import type {
  EntityDefinition,
  RelationDefinition,
  RelationType,
  RuleDefinition,
  Schema,
} from "../../language/schema.ts";
import { conditionKey, formulaKey } from "./formula.ts";

/** The kinds of names of a schema. */
export type NameKind = "entity" | "rule" | "relation" | "attribute" | "permission";

/** One difference between two schemas. */
export interface SchemaDifference {
  readonly kind: "removed" | "added" | "changed";
  readonly of: NameKind;
  /** `type`, `type#name`, or the name of a rule. */
  readonly name: string;
  /** What it was and what it is, as in the language. Empty for an entity. */
  readonly before: string;
  readonly after: string;
  /** Types that a changed relation no longer takes. */
  readonly removedTypes: readonly RelationType[];
}

/**
 * What differs between two compiled schemas, in the order of the old one, then of the new one. A name
 * that only moved or was written differently does not differ.
 */
export function diffSchemas(before: Schema, after: Schema): readonly SchemaDifference[] {
  return [
    ...diffNames(entityParts(before), entityParts(after)),
    ...[...before.entities].flatMap(([name, entity]) => {
      const other = after.entities.get(name);
      return other === undefined ? [] : [...diffNames(membersOf(entity), membersOf(other))];
    }),
    ...diffNames(ruleParts(before), ruleParts(after)),
  ];
}

/** A name of a schema with all that is compared of it. */
interface NamedPart {
  readonly of: NameKind;
  /** Equal for what means the same. */
  readonly key: string;
  readonly text: string;
  /** Of a relation. */
  readonly types: readonly RelationType[];
}

type NamedParts = ReadonlyMap<string, NamedPart>;

function* diffNames(before: NamedParts, after: NamedParts): Generator<SchemaDifference> {
  for (const [name, part] of before) {
    const other = after.get(name);
    const { of, text } = part;
    if (other === undefined || other.of !== of) {
      yield { kind: "removed", of, name, before: text, after: "", removedTypes: [] };
    } else if (other.key !== part.key) {
      const left = new Set(other.types.map(typeText));
      const removedTypes = part.types.filter((type) => !left.has(typeText(type)));
      yield { kind: "changed", of, name, before: text, after: other.text, removedTypes };
    }
  }
  for (const [name, { of, text }] of after) {
    if (before.get(name)?.of === of) continue;
    yield { kind: "added", of, name, before: "", after: text, removedTypes: [] };
  }
}

function entityParts({ entities }: Schema): NamedParts {
  const part = { of: "entity", key: "", text: "", types: [] } as const;
  return new Map([...entities.keys()].map((name) => [name, part]));
}

function ruleParts({ rules }: Schema): NamedParts {
  return new Map([...rules.values()].map((rule) => [rule.name, rulePart(rule)]));
}

function rulePart({ parameters, condition }: RuleDefinition): NamedPart {
  const list = [...parameters].map(([name, type]) => `${name} ${type}`);
  return {
    of: "rule",
    // Arguments are matched by name.
    key: `${list.toSorted().join(",")} ${conditionKey(condition.tree)}`,
    text: `(${list.join(", ")}) { ${condition.text} }`,
    types: [],
  };
}

function membersOf(entity: EntityDefinition): NamedParts {
  const parts: [string, NamedPart][] = [
    ...[...entity.relations.values()].map((relation): [string, NamedPart] => [
      relation.name,
      relationPart(relation),
    ]),
    ...[...entity.attributes].map(([name, type]): [string, NamedPart] => [
      name,
      { of: "attribute", key: type, text: type, types: [] },
    ]),
    ...[...entity.permissions.values()].map(({ name, expression }): [string, NamedPart] => [
      name,
      {
        of: "permission",
        key: formulaKey(expression),
        text: printExpression(expression),
        types: [],
      },
    ]),
  ];
  return new Map(parts.map(([name, part]) => [`${entity.name}#${name}`, part]));
}

function relationPart({ types }: RelationDefinition): NamedPart {
  const texts = types.map(typeText);
  return { of: "relation", key: texts.toSorted().join(" "), text: texts.join(" "), types };
}

function typeText({ type, relation }: RelationType): string {
  return relation === "" ? `@${type}` : `@${type}#${relation}`;
}
