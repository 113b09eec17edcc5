import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Programs that npm does not have. `npm run tools` fetches them; tests do without those it cannot. */
export const toolNames = [
  "helm",
  "decode",
  "prometheus",
  "promtool",
  "chromium",
  "client-python",
] as const;
export type ToolName = (typeof toolNames)[number];

/** Where `npm run tools` puts them. */
export const toolFolder = join(import.meta.dirname, "../../node_modules/.cache/tools");

/** The path of a tool: what was fetched, else what the machine has. */
export function findTool(name: ToolName): string | undefined {
  const folders = [toolFolder, ...(process.env["PATH"] ?? "").split(delimiter)];
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** Why tests that need these tools are skipped. False if they can run. */
export function whyNoTools(...names: readonly ToolName[]): string | false {
  const missing = names.filter((name) => findTool(name) === undefined);
  return (
    missing.length > 0 && `there is no ${missing.join(" and no ")}, \`npm run tools\` fetches it`
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with manifests of Kubernetes, a line each, by the types that the API server has. */
export async function decodeStrictly(manifests: string): Promise<string> {
  return await new Promise((resolve) => {
    const decoder = execFile(findTool("decode") ?? "", (error, _stdout, stderr) => {
      resolve(error === null ? stderr : stderr || error.message);
    });
    decoder.stdin?.end(manifests);
  });
}
