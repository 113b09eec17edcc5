import { defaultFiles } from "./load.ts";
import { optionKeys, options, variableOf } from "./options.ts";

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
    const cells = [
      `\`${key}\``,
      `\`--${flag}\``,
      `\`${variableOf(flag)}\``,
      standard === "" ? "empty" : `\`${standard}\``,
      kind.expected.replaceAll("|", "\\|"),
      `${about}${secret ? "; never shown" : ""}`,
    ];
    return `| ${cells.join(" | ")} |`;
  });
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
status 1. Durations have a unit (\`300s\`, \`1h30m\`), sizes may have one (\`10MiB\`).

| Key | Flag | Variable | Default | Allowed | Meaning |
|---|---|---|---|---|---|
${rows.join("\n")}
`;
}
