import { defaultFiles } from "./load.ts";
import { variableOf } from "./option.ts";
import { optionKeys, options } from "./options.ts";

/** The flags of the configuration, a line each, for the help of a command. */
export function flagHelp(): string {
  const rows = optionKeys.map((key): [string, string] => {
    const { flag, kind, about, default: standard } = options[key];
    return [
      `--${flag}`,
      `${about} (${kind.expected}; default ${standard === "" ? "empty" : standard})`,
    ];
  });
  rows.unshift([
    "-c, --config",
    `YAML file (default ./${defaultFiles[0] ?? ""}, when it is there)`,
  ]);
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return rows.map(([flag, about]) => `  ${flag.padEnd(width)}  ${about}`).join("\n");
}

/** The page `docs/configuration.md`. */
export function configurationPage(): string {
  const rows = optionKeys.map((key) => {
    const { flag, kind, about, default: standard, secret } = options[key];
    return [
      `\`${key}\``,
      `\`--${flag}\``,
      `\`${variableOf(flag)}\``,
      standard === "" ? "empty" : `\`${standard}\``,
      kind.expected,
      `${about}${secret ? "; never shown" : ""}`,
    ];
  });
  const columns = ["Key", "Flag", "Variable", "Default", "Allowed", "Meaning"];
  return `# Configuration

Every key can be given in a YAML file, as an environment variable or as a flag of \`pemba serve\`. A
flag wins over a variable, a variable over the file, the file over the default. The file is the one
named by \`-c\` or \`--config\`, else \`./${defaultFiles.join("` or `./")}\` when there is one; its name ends in \`.yaml\` or
\`.yml\`, and a dot in a key is a level of the file:

\`\`\`yaml
server:
  http:
    port: 3476
database:
  engine: postgres
  uri: postgres://pemba:secret@localhost:5432/pemba
\`\`\`

An empty variable is one that is not set. Keys and variables that start with \`SERVICE_\` but are not
in the table, and values that are not allowed, are all reported at once, and the process ends with
status 1. Durations have a unit (\`300s\`, \`1h30m\`), sizes may have one (\`10MiB\`). A list is a
list of the file, or one text with commas between its values.

${table(columns, rows)}
`;
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
