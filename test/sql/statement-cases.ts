import { compileSchemaText } from "../../src/language/compile.ts";
import { planOf } from "../../src/plan/build.ts";
import type { Question } from "../../src/plan/question.ts";
import { type Body, checkStatement, type CheckShape } from "../../src/sql/check.ts";
import { plainShape, askedAlone, pushDownShared } from "../../src/sql/push-down.ts";
import type { Statement } from "../../src/sql/text/fragment.ts";

/** A statement that stands for a kind of plan or a kind of request. */
export interface StatementCase {
  /** Names its golden file. */
  readonly name: string;
  readonly statement: Statement;
}

const schema = compileSchemaText(`
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
  permission deep = viewer or (parent.deep and above(level) and not_hidden)
  permission not_hidden = owner or open
  permission both = viewer and banned
  permission odd = viewer not parent.odd
  permission tagged = viewer and found(tags) or open
}
rule above(level integer) { level > context.data.limit }
rule found(tags string[]) { tags.exists(tag, tag == context.data.tag) }`);

const context = { contextTuples: true, contextAttributes: true };

/** One of each kind, few enough to be read when they change. */
export const statementCases: readonly StatementCase[] = [
  one("direct-tuple", ["folder#owner@user"]),
  one("usersets", ["group#member@user"]),
  one("usersets-of-a-userset", ["group#member@group#member"]),
  one("walk", ["folder#read@user"]),
  one("walk-not-banned", ["folder#view@user"]),
  one("walk-not-banned-at-a-snapshot", ["folder#view@user"], { pinned: true }),
  one("walk-not-banned-in-a-context", ["folder#view@user"], context),
  one("walk-not-banned-in-bulk", ["folder#view@user"], { bulk: true }),
  ...shared("walk-in-bulk-of-a-subject", "subject", "folder#read@user", {}),
  ...shared("walk-in-bulk-of-an-entity", "entity", "folder#read@user", {}),
  ...shared("walk-not-banned-in-bulk-of-a-subject", "subject", "folder#view@user", {}),
  one("guard-on-the-path-with-a-rule", ["folder#deep@user"]),
  one("attribute-at-a-snapshot-in-a-context", ["folder#open@user"], { pinned: true, ...context }),
  one("both-usersets", ["folder#both@user"]),
  one("gather-of-a-negation", ["folder#odd@user"]),
  one("gather-of-a-rule-at-a-snapshot", ["folder#tagged@user"], { pinned: true }),
  one("several-questions-of-a-version", ["folder#owner@user", "folder#odd@user"], {
    bulk: true,
    pinnedVersion: true,
  }),
];

/** Every question of the schema in every shape that a request can have: for what must hold of all. */
export function allStatements(): readonly StatementCase[] {
  const names = ["read", "view", "deep", "both", "odd", "tagged", "open", "owner", "viewer"];
  const questions = [
    ...names.map((name) => `folder#${name}@user`),
    ...names.map((name) => `folder#${name}@group#member`),
    "group#member@user",
    "folder#view@folder#view",
  ];
  const flags = [false, true];
  const shapes = flags.flatMap((bulk) =>
    flags.flatMap((pinned) =>
      flags.flatMap((contextTuples) =>
        flags.map((contextAttributes): Partial<CheckShape> => ({
          bulk,
          pinned,
          pinnedVersion: pinned,
          contextTuples,
          contextAttributes,
        })),
      ),
    ),
  );
  return questions.flatMap((question) =>
    shapes.flatMap((shape) => [
      one(`${question} ${JSON.stringify(shape)}`, [question], shape),
      ...(shape.bulk === true
        ? (["subject", "entity"] as const).flatMap((common) =>
            shared(`${question} of a ${common} ${JSON.stringify(shape)}`, common, question, shape),
          )
        : []),
    ]),
  );
}

function one(
  name: string,
  questions: readonly string[],
  shape: Partial<CheckShape> = {},
): StatementCase {
  return { name, statement: checkStatement(questions.map(bodyOf), { ...plainShape, ...shape }) };
}

/** The statement for many items of a subject or an entity, if they share something. */
function shared(
  name: string,
  common: "subject" | "entity",
  question: string,
  shape: Partial<CheckShape>,
): readonly StatementCase[] {
  const plan = planOf(schema, questionOf(question), (field) => field);
  const body = plan.kind === "search" ? pushDownShared(common, plan, schema)?.body : undefined;
  return body === undefined
    ? []
    : [{ name, statement: checkStatement([body], { ...plainShape, ...shape, bulk: true }) }];
}

/** The body of a question that is written as `folder#view@user` or `folder#view@group#member`. */
function bodyOf(question: string): Body {
  return askedAlone(planOf(schema, questionOf(question), (field) => field)).body;
}

function questionOf(text: string): Question {
  const [entityType = "", permission = "", subjectType = "", subjectRelation = ""] =
    text.split(/[#@]/);
  return { entityType, permission, subjectType, subjectRelation, arguments: [] };
}
