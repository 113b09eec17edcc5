import { configFlags } from "../../config/load.ts";
import type { Config } from "../../config/options.ts";
import {
  type InterfaceState,
  interfaceVersion,
  readInterface,
  stalenessOf,
} from "../../store/postgres/sql-interface/install.ts";
import {
  type InterfaceReport,
  readReport,
} from "../../store/postgres/sql-interface/interface-status.ts";
import type { Command } from "../command.ts";
import { clusterFlag, eachDatabaseHelp, onEach } from "../databases.ts";
import { complain, say, warn } from "../output.ts";
import { sqlInterfaceOptionsOf } from "./interface-options-of.ts";
import { onInterface } from "./on-interface.ts";
import { databaseList, readSqlSettings } from "./sql-settings.ts";

/** The exit status when something is missing. */
const missingStatus = 2;

/** For insert, update, delete and truncate. */
const triggersOfMap = 4;

export const status: Command = {
  name: "status",
  summary: "show what is installed, and what is missing",
  flags: new Map([...configFlags(), ...clusterFlag]),
  help: () => `usage: pemba sql status [flags]

Shows what is installed and of which version, how many functions there are and how many of them no
schema uses, which tenants have a schema that was not synced, which questions have no SQL, and why, and
which maps there are. It changes nothing.

  pemba sql status --database-uri postgres://pemba@localhost/app || echo "run pemba sql sync"

The exit status is 0 when all is in step with the configuration, 2 when something is missing, and 1 when
that cannot be told.

${eachDatabaseHelp}`,

  async run(args) {
    const settings = readSqlSettings("status", args, clusterFlag);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config } = settings;
    return await onEach(databaseList(settings), async (url) => await showStatus(config, url));
  },
};

async function showStatus(config: Config, url: string): Promise<number> {
  const options = sqlInterfaceOptionsOf(config);
  const state = await readInterface(url, options.schema);
  const staleness = stalenessOf(state, options);
  const { installed } = state;
  if (installed === undefined) {
    say(`there is no SQL interface in the schema \`${options.schema}\`: run \`pemba sql enable\``);
    return missingStatus;
  }
  say(
    `the SQL interface in the schema \`${options.schema}\` ${staleness ?? ageOf(installed)}` +
      (staleness === undefined ? "" : ": run `pemba sql enable`"),
  );
  const report = await onInterface(config, url, async ({ fingerprint }, { database, names }) => {
    // A newer release makes functions in its own way.
    const known = installed.version > interfaceVersion ? undefined : fingerprint;
    return await readReport(database, names, known);
  });
  say(linesOf(report).join("\n"));
  const { functions, heads, maps } = report;
  const isFollowed = maps.every(({ triggers }) => triggers === triggersOfMap);
  const isInStep =
    staleness === undefined && functions.lost === 0 && heads.unsynced === 0 && isFollowed;
  return isInStep ? 0 : missingStatus;
}

function ageOf({ version }: NonNullable<InterfaceState["installed"]>): string {
  return version > interfaceVersion
    ? `is of version ${version}, which a newer release installed`
    : `is up to date (version ${version})`;
}

function linesOf({
  functions,
  heads,
  questions,
  obstacles,
  maps,
}: InterfaceReport): readonly string[] {
  const unnamed = heads.unsynced - heads.examples.length;
  return [
    `functions: ${functions.known}, of which ${functions.unused} are unused`,
    ...(functions.lost === 0
      ? []
      : [`  ${functions.lost} are not in the database any more: run \`pemba sql sync\``]),
    `schemas of tenants: ${heads.all}, of which ${heads.unsynced} are not synced`,
    ...(heads.unsynced === 0 ? [] : ["  run `pemba sql sync` for"]),
    ...heads.examples.map((id) => `  ${id}`),
    ...(unnamed > 0 ? [`  and ${unnamed} more`] : []),
    `questions: ${questions.all}, of which ${questions.obstructed} have no SQL`,
    ...obstacles.map(
      ({ entityType, permission, subjectType, subjectRelation, obstacle, tenants }) =>
        `  ${entityType}.${permission}@${subjectType}${subjectRelation === "" ? "" : `#${subjectRelation}`}` +
        ` (${tenants} tenants): ${obstacle}`,
    ),
    ...(maps.length === 0 ? [] : [`maps: ${maps.length}`]),
    ...maps.flatMap(({ name, source, triggers, unknown }) => [
      `  ${name} of ${source}`,
      ...(triggers === triggersOfMap
        ? []
        : [
            `    ${triggersOfMap - triggers} of its triggers are not there or disabled: run what \`pemba sql map\` prints, then \`pemba sql reconcile\``,
          ]),
      ...unknown.map((label) => `    no schema has \`${label}\`: it is kept, and answers nothing`),
    ]),
  ];
}
