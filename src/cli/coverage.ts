import { parseFlags } from "../config/flags.ts";
import { integer } from "../config/kind.ts";
import { compileSchemaText } from "../language/compile.ts";
import {
  type EntityFigures,
  entityFigures,
  type TotalFigures,
  totalFigures,
} from "../model-test/coverage/figures.ts";
import type { Command } from "./command.ts";
import { oneFile } from "./model-test/one-file.ts";
import { show } from "./model-test/show.ts";
import { validateFile } from "./model-test/validation.ts";
import { complain } from "./output.ts";

const percent = integer({ from: 0, to: 100 });

/** In the order in which they are compared. */
const figures = [
  "assertions",
  "relationships",
  "attributes",
] as const satisfies readonly (keyof TotalFigures)[];

const flags = new Map(figures.map((figure) => [`coverage-${figure}`, {}]));

export const coverage: Command = {
  name: "coverage",
  summary: "show what of a schema one model test names",
  flags,
  help: () => `usage: pemba coverage FILE [flags]

Runs the file as \`pemba validate\` does, and shows for each entity type which of its relations and
attributes stand in the data of the file, and which of its permissions stand in assertions. \`pemba test\`
measures more: which parts of the schema decide an answer.

  --coverage-assertions     least percentage of permissions in assertions (${percent.expected}; default 0)
  --coverage-relationships  the same for relations in \`relationships\`
  --coverage-attributes     the same for attributes in \`attributes\`

Exit status: 0 if the file is valid and no percentage is too low, else 1.`,

  async run(args) {
    const { values, positionals, problems } = parseFlags(args, flags);
    const least = leastFigures(values, problems);
    const file = oneFile("coverage", positionals, problems);
    if (file === undefined) return complain(...problems);
    const { model, isGood } = await validateFile(file);
    if (model === undefined || !isGood) return 1;
    const entities = entityFigures(compileSchemaText(model.schema.text), model.file);
    for (const entity of entities) printEntity(entity);
    const totals = totalFigures(entities);
    const low = figures.find((figure) => totals[figure] < least[figure]);
    if (low === undefined) return 0;
    show(`${low} coverage < ${least[low]}%`, "bad");
    show("FAILED", "bad");
    return 1;
  },
};

function leastFigures(values: ReadonlyMap<string, string>, problems: string[]): TotalFigures {
  const read = (figure: keyof TotalFigures): number => {
    const least = percent.read(values.get(`coverage-${figure}`) ?? "0");
    if (least === undefined) problems.push(`--coverage-${figure}: expected ${percent.expected}`);
    return least ?? 0;
  };
  return {
    assertions: read("assertions"),
    relationships: read("relationships"),
    attributes: read("attributes"),
  };
}

function printEntity({ entityType, relationships, attributes, assertions }: EntityFigures): void {
  show(`entity: ${entityType}`);
  printUncovered("uncovered relationships", relationships.uncovered);
  printUncovered("uncovered attributes", attributes.uncovered);
  for (const [scenario, { uncovered }] of assertions) {
    printUncovered(`uncovered assertions of ${scenario}`, uncovered);
  }
  printPercent("relationships", relationships.percent);
  printPercent("attributes", attributes.percent);
  for (const [scenario, { percent: share }] of assertions) {
    printPercent(`assertions of ${scenario}`, share);
  }
}

function printUncovered(heading: string, names: readonly string[]): void {
  if (names.length === 0) return;
  show(`  ${heading}:`);
  for (const name of names) show(`    ${name}`);
}

/** Half or less is bad. */
function printPercent(name: string, value: number): void {
  show(`  ${name}: ${value}%`, value > 50 ? "good" : "bad");
}
