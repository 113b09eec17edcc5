import { defaultFiles } from "./load.ts";
import { optionKeys, options } from "./options.ts";

/** The flags of the configuration, one line each, for the help of a command. */
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
