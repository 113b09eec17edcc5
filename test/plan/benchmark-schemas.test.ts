import assert from "node:assert/strict";
import { test } from "node:test";

import { nestedDocumentsSchema } from "../../bench/data/nested-documents.ts";
import { socialSchema } from "../../bench/data/social.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { buildPlan } from "../../src/plan/build.ts";

const schemas = { "nested documents": nestedDocumentsSchema, social: socialSchema };

for (const [name, text] of Object.entries(schemas)) {
  const schema = compileSchemaText(text);
  for (const entity of schema.entities.values()) {
    for (const permission of entity.permissions.keys()) {
      test(`${entity.name}.${permission} of the schema ${name} is a search`, () => {
        const question = {
          entityType: entity.name,
          permission,
          subjectType: "user",
          subjectRelation: "",
          arguments: [],
        };
        assert.equal(buildPlan(schema, question, (field) => field).kind, "search");
      });
    }
  }
}
