import { type Static, Type } from "typebox";

import { formatSchemaText } from "../../authoring/format/format.ts";
import { askTenant } from "./ask.ts";
import type { Server } from "./send.ts";

const texts = Type.Record(Type.String(), Type.String());

const EntityAnswer = Type.Object({
  relations: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        references: Type.Array(
          Type.Object({ type: Type.String(), relation: Type.Optional(Type.String()) }),
        ),
      }),
    ),
  ),
  attributes: Type.Optional(Type.Record(Type.String(), Type.Object({ type: Type.String() }))),
  actions: Type.Optional(texts),
});

const RuleAnswer = Type.Object({ arguments: texts, expression: Type.String() });

const SchemaAnswer = Type.Object({
  schema: Type.Object({
    entity_definitions: Type.Record(Type.String(), EntityAnswer),
    rule_definitions: Type.Record(Type.String(), RuleAnswer),
  }),
});

export type Definitions = Static<typeof SchemaAnswer>;

/** What the server says of a version of the tenant's schema, or of the head for "". */
export async function readDefinitions(server: Server, version: string): Promise<Definitions> {
  const body = { metadata: { schema_version: version } };
  return await askTenant(server, "schemas/read", { body, answer: SchemaAnswer });
}

/**
 * The text of a version of the tenant's schema, or of the head for "". It means what was written, but
 * has no comments. Fails with ServerRefusal.
 */
export async function readServerSchema(server: Server, version: string): Promise<string> {
  const { schema } = await readDefinitions(server, version);
  const entities = Object.entries(schema.entity_definitions).map(([name, entity]) =>
    entityText(name, entity),
  );
  const rules = Object.entries(schema.rule_definitions).map(([name, rule]) => ruleText(name, rule));
  return [formatSchemaText(entities.join("\n")), ...rules].join("\n");
}

function entityText(name: string, entity: Static<typeof EntityAnswer>): string {
  const relations = Object.entries(entity.relations ?? {}).map(([relation, { references }]) => {
    const types = references.map(({ type, relation: on = "" }) =>
      on === "" ? `@${type}` : `@${type}#${on}`,
    );
    return `relation ${relation} ${types.join(" ")}`;
  });
  const attributes = Object.entries(entity.attributes ?? {}).map(
    ([attribute, { type }]) => `attribute ${attribute} ${type}`,
  );
  const permissions = Object.entries(entity.actions ?? {}).map(
    ([permission, text]) => `permission ${permission} = ${text}`,
  );
  return [`entity ${name} {`, ...relations, ...attributes, ...permissions, "}"].join("\n");
}

/**
 * As the formatter lays it out, with the expression as it is: the server does not say how far in its first
 * line was, so to lay it out anew would move the other lines.
 */
function ruleText(name: string, rule: Static<typeof RuleAnswer>): string {
  const list = Object.entries(rule.arguments).map(([parameter, type]) => `${parameter} ${type}`);
  // The expression may end with a comment, so the brace has a line of its own.
  const isLong = /[\r\n]|\/\//.test(rule.expression);
  const body = isLong ? `\n  ${rule.expression}\n` : ` ${rule.expression} `;
  return `rule ${name}(${list.join(", ")}) {${body}}\n`;
}
