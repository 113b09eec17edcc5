import { keyNames, type KeyName } from "../../src/config/key-name.ts";
import { defaultFiles } from "../../src/config/load.ts";
import type { Option } from "../../src/config/option.ts";
import { options } from "../../src/config/options.ts";

const introduction = `# Configuration

Every key can be given in a YAML file, as an environment variable or as a flag of \`pemba serve\`. A
flag wins over a variable, a variable over the file, the file over the default.

The file is the one named by \`-c\` or \`--config\`, else the first of these that is there:
${defaultFiles.map((file) => `\`./${file}\``).join(", ")}.
Its name ends in \`.yaml\` or \`.yml\`, and a dot in a key is a level of the file:

\`\`\`yaml
server:
  http:
    port: 3476
authn:
  enabled: true
  method: preshared
  preshared:
    keys: [k-one, k-two]
database:
  engine: postgres
  uri: postgres://pemba:secret@localhost:5432/pemba
\`\`\`

Anchors, aliases and merges (\`<<\`) work. A key that is left empty has its default, and so has one
whose variable is empty.

- **Durations** have a unit: \`500ms\`, \`300s\`, \`15m\`, \`1h30m\`; only \`0\` needs none.
- **Sizes** may have one: \`10MiB\`, \`10MB\`, \`1000\` (bytes).
- **Lists** are lists of the file. In a variable or flag, commas stand between their values, and a
  flag can be given several times. One text in a file is split at commas, too, in quotes or not: a value
  that has one itself stands in a list of the file, as in \`keys: ["a,b"]\`.
- **Lists of maps** (\`authn.preshared.scoped\`) are such in the file, and one text of JSON elsewhere. An
  error names the place: \`authn.preshared.scoped[1].scopes[0]\`.

## Looking at it

\`pemba config\` shows every key with its value, where that was given, and no secrets; with
\`--output json\` for machines. It takes the flags of \`serve\`.

All errors are reported together, each with its place and what is allowed: unknown keys (also variables
that start with \`SERVICE_\`), values that are not allowed, and keys that another key requires. The
process ends with status 1. A token or certificate whose feature is switched off gives a warning.

\`\`\`
pemba: config.yaml:2:3: \`logger.levels\` is not a key of the configuration (did you mean \`logger.level\`?)
pemba: SERVICE_DATABASE_CONNECT_TIMEOUT: \`database.connect_timeout\`: \`60\` is not allowed, expected a duration with its unit, such as 500ms, 60s, 15m or 1h30m (did you mean \`60s\`, which are seconds?)
\`\`\`

\`pemba config schema\` prints a JSON Schema of the file, with which editors check and complete it. The
YAML extensions of most take it from a first line such as

\`\`\`yaml
# yaml-language-server: $schema=./pemba.schema.json
\`\`\`
`;

const deprecation = `## Deprecated keys

They still work, with a warning. When the key that replaces one is given, too, that one counts.
`;

/** The page \`docs/configuration.md\`. */
export function configurationPage(): string {
  const current = keyNames.filter(({ name, key }) => name === key);
  const sections = Map.groupBy(current, ({ name }) => name.split(".")[0] ?? name);
  return [
    introduction,
    ...[...sections].map(([section, names]) => `## ${section}\n\n${keyTable(names)}\n`),
    deprecation,
    deprecatedTable(keyNames.filter(({ name, key }) => name !== key)),
    "",
  ].join("\n");
}

function keyTable(names: readonly KeyName[]): string {
  const columns = ["Key", "Flag", "Variable", "Default", "Allowed", "Meaning"];
  const rows = names.map(({ key, flag, variables }) => {
    const { kind, about, default: standard, secret }: Option<unknown> = options[key];
    return [
      `\`${key}\``,
      `\`--${flag}\``,
      variables.map((variable) => `\`${variable}\``).join(" or "),
      standard === "" ? "empty" : `\`${standard}\``,
      kind.expected,
      `${about}${secret ? "; a secret" : ""}`,
    ];
  });
  return table(columns, rows);
}

function deprecatedTable(names: readonly KeyName[]): string {
  const rows = names.map(({ name, key, flag, variables }) => [
    `\`${name}\``,
    `\`--${flag}\``,
    variables.map((variable) => `\`${variable}\``).join(" or "),
    `\`${key}\``,
  ]);
  return table(["Key", "Flag", "Variable", "Replaced by"], rows);
}

/** A table whose columns are as wide as their widest cell, as the formatter leaves it. */
function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[], fill: string): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0, fill)).join(" | ")} |`;
  const rule = columns.map(() => "");
  return [line(columns, " "), line(rule, "-"), ...rows.map((row) => line(row, " "))].join("\n");
}
