import assert from "node:assert/strict";
import { test } from "node:test";

import { compileSchemaText } from "../../src/language/compile.ts";
import type { EntityDefinition, Schema } from "../../src/language/schema.ts";
import { planOf } from "../../src/plan/build.ts";
import { printPlan } from "../../src/plan/print-plan.ts";
import { checkStatement } from "../../src/sql/check.ts";
import { nestedDocumentsSchema } from "../data/nested-documents.ts";
import { socialSchema } from "../data/social.ts";
import { nameOf } from "../language/numbered-name.ts";

/*
 * What people really ask must never fall back to reading the graph: every name of these schemas, for
 * every kind of subject, is one search whose statement can be written.
 */

/** Organisations, teams and repositories as a large public project has them. */
const organisations = `
entity user {}

entity organization {
  relation admin @user
  relation member @user
  permission belong = admin or member
}

entity team {
  relation organization @organization
  relation parent @team
  relation maintainer @user
  relation member @user @team#member
  permission manage = maintainer or organization.admin or parent.manage
}

entity repository {
  relation organization @organization
  relation reader @team#member
  relation triager @team#member
  relation writer @team#member
  relation maintainer @team#member
  relation admin @team#member
  permission administer = admin or organization.admin
  permission maintain = maintainer or administer
  permission push = writer or maintain
  permission triage = triager or push
  permission pull = reader or triage or organization.belong
  permission outside_push = push not organization.belong
  permission member_push = push and organization.belong
}`;

/** Each operator, function and kind of value of rules that has an SQL expression, once. */
const bodies = [
  "number > 1 && number >= 2 || number < 3 && number <= 4",
  "number == 1 || number != 2",
  "number + 1 > 2 - number",
  "number * 2 > number / 3",
  "number % 2 == 0",
  "-number < 3",
  "ratio > 0.5 && ratio < 1.5",
  "ratio + 1.0 > 2.0 * ratio / 3.0 - 1.0",
  "-ratio < 0.5",
  "flag && !flag || flag == true",
  "number > 3 ? flag : !flag",
  "(flag ? number : 2) > 1",
  "(flag ? ratio : 2.0) > 1.0",
  "(flag ? context.data.limit : context.data.other) == number",
  'title == "it\'s \\\\ here"',
  'title < "b"',
  'title.startsWith("a") || title.endsWith("b") || title.contains("c")',
  "title.size() > 3 && size(title) < 10",
  'title + "x" == "ax"',
  '"a" in tags',
  "size(tags) > 0",
  'tags[0] == "a"',
  "2 in numbers",
  "true in flags",
  "0.5 in ratios",
  'title in ["a", "b"]',
  "title in [context.data.city, context.data.town]",
  "number in [1, 2]",
  "context.data.limit > number",
  "context.data.flag",
  "has(context.data.limit)",
  "context.data.deep.city == title",
  'context.data["city"] == title',
  "context.data.tags[0] == title",
  'timestamp(context.data.now) - timestamp(title) < duration("1h") + duration(title)',
  'timestamp(number) + duration(context.data.wait) >= timestamp("2024-01-01T00:00:00Z")',
  "timestamp(context.data.now).getHours() > 7 && timestamp(title).getDayOfWeek() < 6",
];

const rules = `
entity user {}
entity doc {
  relation viewer @user
  attribute number integer
  attribute ratio double
  attribute flag boolean
  attribute title string
  attribute tags string[]
  attribute numbers integer[]
  attribute flags boolean[]
  attribute ratios double[]
  ${bodies.map((_, index) => `permission p_${nameOf(index)} = viewer and r_${nameOf(index)}(number, ratio, flag, title, tags, numbers, flags, ratios)`).join("\n  ")}
}
${bodies
  .map(
    (body, index) =>
      `rule r_${nameOf(index)}(number integer, ratio double, flag boolean, title string, tags string[], numbers integer[], flags boolean[], ratios double[]) { ${body} }`,
  )
  .join("\n")}`;

const schemas = {
  organisations,
  "nested documents": nestedDocumentsSchema,
  social: socialSchema,
  rules,
};

for (const [name, text] of Object.entries(schemas)) {
  const schema = compileSchemaText(text);
  for (const entity of schema.entities.values()) {
    for (const permission of namesOf(entity)) {
      test(`${entity.name}#${permission} of ${name} is pushed down for every kind of subject`, () => {
        for (const subject of subjectsOf(schema)) {
          assert.ok(statementText(schema, { entityType: entity.name, permission, ...subject }));
        }
      });
    }
  }
}

function statementText(
  schema: Schema,
  asked: {
    readonly entityType: string;
    readonly permission: string;
    readonly subjectType: string;
    readonly subjectRelation: string;
  },
): string {
  const plan = planOf(schema, { ...asked, arguments: [] }, (field) => field);
  assert.ok(plan.kind === "search", printPlan(plan));
  return checkStatement([{ kind: "search", plan }], {
    bulk: false,
    pinned: false,
    pinnedVersion: false,
    contextTuples: false,
    contextAttributes: false,
  }).text;
}

function namesOf(entity: EntityDefinition): readonly string[] {
  return [...entity.permissions.keys(), ...entity.relations.keys()];
}

function subjectsOf(
  schema: Schema,
): readonly { readonly subjectType: string; readonly subjectRelation: string }[] {
  return [...schema.entities.values()].flatMap((entity) =>
    ["", ...namesOf(entity)].map((subjectRelation) => ({
      subjectType: entity.name,
      subjectRelation,
    })),
  );
}
