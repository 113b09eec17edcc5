import { assert, must } from "../../../base/assert.ts";
import type { Telemetry } from "../../../base/telemetry.ts";
import { runInSlices } from "../../../base/time-slice.ts";
import type { TenantId } from "../../../base/tuple.ts";
import type { Schema } from "../../../language/schema.ts";
import type { CompiledSchema, CompiledSchemas } from "../../compiled-schemas.ts";
import type { CheckQuestion, QuestionFrame } from "../../store.ts";
import { validateContext } from "../../validate-data.ts";
import type { Row } from "../connect/row.ts";
import type { Reads } from "../replicas/reads.ts";
import type { PinnedState, SnapTokens } from "../token/snap-token.ts";
import type { CheckPlans } from "./check-plan.ts";
import { checkShape, checkValues } from "./check-values.ts";
import { withAllFacts } from "./fact-list.ts";
import type { Group, PlannedGroup } from "./group.ts";
import { standsUnder, underHead } from "./head.ts";

/** What asks the database with the plans of a schema. */
export interface Asking {
  readonly reads: Reads;
  readonly schemas: CompiledSchemas;
  readonly plans: CheckPlans;
  readonly tokens: SnapTokens;
  readonly telemetry: Telemetry;
  /** Rows of questions that name no state have the column `shown`. */
  readonly tellsShown: boolean;
}

/** A question under the schema that it was planned with. */
export interface AskedCheck {
  readonly tenant: TenantId;
  readonly question: CheckQuestion;
  readonly state: PinnedState | undefined;
  readonly compiled: CompiledSchema;
}

/** What is asked of a tenant. */
interface AskedOfTenant {
  readonly tenant: TenantId;
  readonly frame: QuestionFrame;
  readonly checksOf: (schema: Schema) => CheckQuestion;
}

/** Does the work with the plans of the head, again when that turns out to be another one. */
export async function askUnderHead<T>(
  asking: Asking,
  asked: AskedOfTenant,
  work: (asked: AskedCheck, groups: readonly Group[]) => Promise<T | undefined>,
): Promise<T> {
  return await askPlanned(asking, asked, async (_compiled, groups) => groups, work);
}

/** The same with one group, which takes the place of the one that answers a question of one item. */
export async function askOneUnderHead<T>(
  asking: Asking,
  asked: AskedOfTenant,
  groupFor: (compiled: CompiledSchema, group: PlannedGroup) => Promise<PlannedGroup>,
  work: (asked: AskedCheck, group: PlannedGroup) => Promise<T | undefined>,
): Promise<T> {
  return await askPlanned(
    asking,
    asked,
    async (compiled, [group]) => {
      assert(group?.kind === "planned", "an item alone is planned");
      return await groupFor(compiled, group);
    },
    work,
  );
}

/** Plans with `planFor`, too, whose errors are reported only for a head that was just read. */
async function askPlanned<P, T>(
  { schemas, plans, tokens, telemetry }: Asking,
  { tenant, frame, checksOf }: AskedOfTenant,
  planFor: (compiled: CompiledSchema, groups: readonly Group[]) => Promise<P>,
  work: (asked: AskedCheck, plan: P) => Promise<T | undefined>,
): Promise<T> {
  const { schemaVersion, snapToken } = frame;
  return await underHead(
    schemas,
    { tenant, schemaVersion },
    {
      async plan(compiled) {
        const question = checksOf(compiled.schema);
        const groups = await groupsOf(plans, compiled, question);
        return { question, compiled, plan: await planFor(compiled, groups) };
      },
      async work({ question, compiled, plan }) {
        const state = snapToken === undefined ? undefined : tokens.read(snapToken);
        return await work({ tenant, question, state, compiled }, plan);
      },
      telemetry,
    },
  );
}

/**
 * One row for each item, with its `facts` as an array of texts if it was gathered; or undefined when the head is not
 * the one that was planned with. With `namesState` a row of a question that names no state has the columns of its
 * token.
 */
export async function askGroups(
  { reads, schemas, plans, ...asking }: Asking,
  asked: AskedCheck,
  groups: readonly Group[],
  { namesState }: { readonly namesState: boolean } = { namesState: false },
): Promise<readonly Row[] | undefined> {
  const { tenant, question, compiled, state } = asked;
  const { schemaVersion, signal } = question;
  const tellsShown = asking.tellsShown && state === undefined;
  const shape = { ...checkShape(question, groups), namesState, tellsShown };
  const { text, params } = plans.statementOf(compiled.compiled, groups, shape);
  const values = checkValues({ ...asked, groups, shape, params });
  const rows = await reads.read(
    text,
    params.map((key) => must(values.get(key), `the parameter ${key} has a value`)),
    { state, head: schemaVersion === undefined ? compiled.version : undefined, signal },
  );
  const planned = { compiled, isPinned: shape.pinned };
  if (!standsUnder(schemas, { tenant, schemaVersion }, planned, rows[0])) return undefined;
  return groups.some(({ body }) => body.kind === "gather") ? withAllFacts(rows) : rows;
}

async function groupsOf(
  plans: CheckPlans,
  compiled: CompiledSchema,
  { context, items, path, signal }: CheckQuestion,
): Promise<readonly Group[]> {
  await runInSlices(validateContext(compiled.schema, context), signal);
  return await plans.groupsOf({ compiled, items, path, signal });
}
