import { scanToken } from "../../../language/lexer.ts";
import { permissionsOf } from "../../../language/operand.ts";
import { nestingMax } from "../../../language/parse-expression.ts";
import { schemaSizeMax, schemaSizeOf } from "../../../language/size.ts";
import { startOfText } from "../../../language/source.ts";
import type { SourceSpan } from "../../../language/tree.ts";
import type { LintedSchema, LintPlace, Inspection } from "../inspection.ts";
import { type BoundUse, nearShare, shareOf } from "../survey.ts";

/** What comes near a bound of schemas or of plans. */
export const nearBound: Inspection = {
  code: "near-bound",
  severity: "warning",
  *find(linted): Iterable<LintPlace> {
    yield* nearSchemaBounds(linted);
    yield* nearPlanBounds(linted);
  },
};

function* nearSchemaBounds({ tree, survey }: LintedSchema): Iterable<LintPlace> {
  const position = tree.statements[0]?.name.position ?? startOfText;
  const size = {
    count: schemaSizeOf(tree),
    most: schemaSizeMax,
    unit: "names, relation types, operators and places of walks",
  };
  if (isNear(size)) {
    yield { position, message: `the schema uses ${shareText(size)}; past that, it is refused` };
  }
  if (survey.omitted > 0) {
    const message = `the schema has so many permissions and types of subjects that ${survey.omitted} questions were not planned: nothing is said of their plans`;
    yield { position, message };
  }
  for (const { type, permission } of permissionsOf(tree)) {
    const count = nestingOf(tree.source.text, permission.span);
    const nesting = { count, most: nestingMax, unit: "parentheses inside each other" };
    if (!isNear(nesting)) continue;
    yield {
      position: permission.name.position,
      message: `\`${type}#${permission.name.text}\` uses ${shareText(nesting)}; past that, the schema is refused`,
    };
  }
}

/** For each permission the bound that it comes nearest to. */
function* nearPlanBounds({ scope, survey }: LintedSchema): Iterable<LintPlace> {
  for (const [{ entityType, name }, questions] of Map.groupBy(
    survey.questions,
    (one) => one.node,
  )) {
    const nearest = questions
      .flatMap(({ uses }) => uses)
      .reduce<BoundUse | undefined>(
        (best, use) => (best === undefined || shareOf(use) > shareOf(best) ? use : best),
        undefined,
      );
    const member = scope.entities.get(entityType)?.members.get(name);
    if (nearest === undefined || member === undefined || !isNear(nearest)) continue;
    yield {
      position: member.name.position,
      message: `\`${entityType}#${name}\` uses ${shareText(nearest)}; past that, it is gathered`,
    };
  }
}

function isNear(use: BoundUse): boolean {
  return shareOf(use) >= nearShare;
}

function shareText({ count, most, unit }: BoundUse): string {
  return `${count} of ${most} ${unit}`;
}

/** The most parentheses that are open at the same time. */
function nestingOf(text: string, { start, end }: SourceSpan): number {
  let open = 0;
  let most = 0;
  for (let token = scanToken(text, start); token.start < end; token = scanToken(text, token.end)) {
    if (token.kind === "LP") open += 1;
    if (token.kind === "RP") open -= 1;
    most = Math.max(most, open);
  }
  return most;
}
