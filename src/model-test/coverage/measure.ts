import type { Context } from "../../base/tuple.ts";
import { compileSchema } from "../../language/compile.ts";
import { permissionsOf } from "../../language/operand.ts";
import { parseSchema } from "../../language/parse.ts";
import type { SchemaTree } from "../../language/tree.ts";
import type { ModelCase } from "../file/model-file.ts";
import { openMemoryTenant } from "../run/memory-tenant.ts";
import type { TestTenant } from "../run/run-model.ts";
import { type LoadedModel, type LoadedSchema, writeModel } from "../run/write-model.ts";
import { type ExploredFrame, Explorer, type ExploredSchema } from "./explore.ts";
import { type MeasuredPart, PartMarks } from "./part-marks.ts";
import { type Probe, probedSchema } from "./probe.ts";
import { schemaPartsOf } from "./schema-part.ts";
import { TestData } from "./test-data.ts";

/** What the tests of a schema cover. */
export interface Coverage {
  readonly schema: LoadedSchema;
  /** All parts of the schema, in the order of its text. */
  readonly parts: readonly MeasuredPart[];
  /** True if an answer depended on more than is explored: some covered parts may be missing. */
  readonly isPartial: boolean;
}

/**
 * Measures which parts of a schema decide an answer that one of its model tests asserts. All models
 * have this schema, and can be written. It asks the engine in memory, whose answers are those of the
 * other one.
 */
export async function measureCoverage(
  schema: LoadedSchema,
  models: readonly LoadedModel[],
): Promise<Coverage> {
  const tree = parseSchema(schema.text);
  const marks = new PartMarks(schemaPartsOf(tree));
  const explored = exploredSchema(tree);
  const probed = { ...schema, text: explored.probed.text };
  for (const model of models) {
    const tenant = openMemoryTenant();
    try {
      const problems = await writeModel(tenant, { file: model.file, schema: probed });
      const [problem] = problems;
      if (problem !== undefined) {
        throw new Error(`the coverage of ${schema.label} cannot be measured: ${problem.message}`);
      }
      await exploreModel(tenant, { model, explored, marks });
    } finally {
      await tenant.close();
    }
  }
  return { schema, parts: marks.measured(), isPartial: marks.isPartial };
}

function exploredSchema(tree: SchemaTree): ExploredSchema {
  const permissions = [...permissionsOf(tree)].map(
    ({ type, permission }) => [`${type}#${permission.name.text}`, permission] as const,
  );
  return {
    schema: compileSchema(tree),
    probed: probedSchema(tree),
    permissions: new Map(permissions),
  };
}

async function exploreModel(
  tenant: TestTenant,
  {
    model,
    explored,
    marks,
  }: { readonly model: LoadedModel; readonly explored: ExploredSchema; readonly marks: PartMarks },
): Promise<void> {
  const explorer = new Explorer(tenant, explored, marks);
  const stored = TestData.of(model.file);
  // Questions that bring nothing along share what they find.
  const shared = new Map<number, ExploredFrame>();
  for (const one of model.file.scenarios.flatMap(({ cases }) => cases)) {
    const frame =
      (isEmptyContext(one.context) ? shared.get(one.depth) : undefined) ?? newFrame(stored, one);
    if (isEmptyContext(one.context)) shared.set(one.depth, frame);
    for (const probe of probesOf(one, frame.data)) await explorer.explore(frame, probe);
  }
}

function newFrame(stored: TestData, { depth, context }: ModelCase): ExploredFrame {
  return { depth, context, data: stored.with(context), known: new Map(), seen: new Set() };
}

function isEmptyContext({ tuples, attributes, data }: Context): boolean {
  return tuples.length + attributes.length + Object.keys(data).length === 0;
}

/** The checks that an assertion comes to. A list says of each id that the test knows whether it is in it. */
function* probesOf(one: ModelCase, data: TestData): Generator<Probe> {
  for (const { name } of one.assertions) {
    switch (one.kind) {
      case "check":
        yield { entity: one.entity, name, subject: one.subject };
        break;
      case "entity_filter":
        for (const id of knownIds(data, one.entityType, one.subject)) {
          yield { entity: { type: one.entityType, id }, name, subject: one.subject };
        }
        break;
      case "subject_filter":
        for (const id of knownIds(data, one.subjectType, one.entity)) {
          const subject = { type: one.subjectType, id, relation: one.subjectRelation };
          yield { entity: one.entity, name, subject };
        }
        break;
    }
  }
}

/** What the question names is known as well. */
function knownIds(
  data: TestData,
  type: string,
  named: { readonly type: string; readonly id: string },
): ReadonlySet<string> {
  const ids = data.idsOf(type);
  return named.type === type ? new Set([...ids, named.id]) : ids;
}
