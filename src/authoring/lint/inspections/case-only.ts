import type { Name } from "../../../language/tree.ts";
import type { LintPlace, Inspection } from "../inspection.ts";

/** Names beside each other that differ by upper and lower case alone. */
export const caseOnly: Inspection = {
  code: "case-only",
  severity: "warning",
  *find({ tree }): Iterable<LintPlace> {
    yield* twinsAmong(tree.statements.map(({ name }) => name));
    for (const statement of tree.statements) {
      yield* twinsAmong(
        statement.kind === "entity"
          ? statement.members.map(({ name }) => name)
          : statement.parameters.map(({ name }) => name),
      );
    }
  },
};

function* twinsAmong(names: readonly Name[]): Iterable<LintPlace> {
  const first = new Map<string, Name>();
  for (const name of names) {
    const folded = name.text.toLowerCase();
    const twin = first.get(folded);
    if (twin === undefined) {
      first.set(folded, name);
      continue;
    }
    const { line, column } = twin.position;
    yield {
      position: name.position,
      message: `\`${name.text}\` differs from \`${twin.text}\` (${line}:${column}) by case alone`,
    };
  }
}
