import { runThrough } from "../../src/base/steps.ts";
import type { LookupShape } from "../../src/sql/lookup/lookup.ts";
import { plainShape } from "../../src/sql/push-down.ts";
import { openRules } from "../../src/store/postgres/questions/lookup-plan.ts";
import { plansOver } from "../support/plans.ts";
import type { StatementCase } from "./statement-cases.ts";

const plans = await plansOver(`
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation owner @user
  relation banned @user @group#member
  attribute open boolean
  attribute level integer
  attribute tags string[]
  permission read = viewer or owner or parent.read
  permission view = (viewer or parent.view) not banned
  permission deep = viewer or (parent.deep and above(level))
  permission calm = viewer or below(level)
  permission shown = open or owner
  permission both = viewer and banned
  permission odd = viewer not parent.odd
  permission tagged = viewer and found(tags) or open
}
rule above(level integer) { level > context.data.limit }
rule below(level integer) { level < 10 }
rule found(tags string[]) { tags.exists(tag, tag == context.data.tag) }`);

type Variant = Partial<Omit<LookupShape, "openRules">>;

const context = { contextTuples: true, contextAttributes: true };

/** One of each kind, few enough to be read when they change. */
export const lookupCases: readonly StatementCase[] = await Promise.all([
  entities("lookup-entities", "folder#read@user"),
  entities("lookup-entities-not-banned", "folder#view@user"),
  entities("lookup-entities-not-banned-together", "folder#view@user", { judgesTogether: true }),
  entities("lookup-entities-at-a-snapshot-in-a-scope", "folder#read@user", {
    pinned: true,
    pinnedVersion: true,
    scopedTypes: ["folder"],
  }),
  entities("lookup-entities-by-a-rule-that-holds-by-default", "folder#calm@user"),
  entities("lookup-entities-gathered", "folder#odd@user"),
  subjects("lookup-subjects", "folder#read@user"),
  subjects("lookup-subjects-not-banned-in-a-context", "folder#view@user", context),
  subjects("lookup-subjects-not-banned-together", "folder#view@user", { judgesTogether: true }),
  subjects("lookup-subjects-by-an-attribute", "folder#shown@user"),
]);

/** Every question of the schema in every shape that a lookup can have: for what must hold of all. */
export async function allLookups(): Promise<readonly StatementCase[]> {
  const names = ["read", "view", "deep", "calm", "shown", "both", "odd", "tagged", "open", "owner"];
  const questions = [
    ...names.map((name) => `folder#${name}@user`),
    ...names.map((name) => `folder#${name}@group#member`),
    "group#member@user",
    "folder#view@folder#view",
  ];
  const flags = [false, true];
  const shapes = flags.flatMap((pinned) =>
    flags.map((inContext): Variant => ({
      pinned,
      pinnedVersion: pinned,
      contextTuples: inContext,
      contextAttributes: inContext,
    })),
  );
  const cases = questions.flatMap((question) =>
    shapes.flatMap((shape) => {
      const name = `${question} ${JSON.stringify(shape)}`;
      const scopedTypes = ["folder", "group"];
      return [
        entities(`entities ${name}`, question, shape),
        entities(`entities together ${name}`, question, { ...shape, judgesTogether: true }),
        entities(`entities in a scope ${name}`, question, { ...shape, scopedTypes }),
        subjects(`subjects ${name}`, question, shape),
        subjects(`subjects together ${name}`, question, { ...shape, judgesTogether: true }),
      ];
    }),
  );
  return await Promise.all(cases);
}

function entities(name: string, question: string, variant: Variant = {}): Promise<StatementCase> {
  return lookup("entities", name, question, variant);
}

function subjects(name: string, question: string, variant: Variant = {}): Promise<StatementCase> {
  return lookup("subjects", name, question, variant);
}

async function lookup(
  end: "entities" | "subjects",
  name: string,
  question: string,
  variant: Variant,
): Promise<StatementCase> {
  const [entityType = "", permission = "", subjectType = "", subjectRelation = ""] =
    question.split(/[#@]/);
  const asked = { entityType, permission, subjectType, subjectRelation, arguments: [] };
  const { compiled } = plans.compiled;
  const planning = { compiled, question: asked, path: (field: string) => field };
  const planned = await plans.lookups.planOf(end, planning);
  const open = runThrough(openRules(planned, { limit: 3, tag: "a" }));
  const shape = {
    ...plainShape,
    scopedTypes: [],
    judgesTogether: false,
    ...variant,
    openRules: open,
  };
  return { name, statement: plans.lookups.statementOf(planned, shape) };
}
