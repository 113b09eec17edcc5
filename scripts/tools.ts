import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { findTool, type ToolName, toolFolder, toolNames } from "../test/support/tools.ts";

/*
 * Fetches the programs that some long tests use and npm does not have. The tests that need a missing one
 * are skipped, so the exit status only says whether all are there.
 */

const run = promisify(execFile);

const sources: readonly {
  readonly tools: readonly ToolName[];
  readonly fetch: () => Promise<void>;
}[] = [
  { tools: ["helm", "decode"], fetch: buildWithGo },
  { tools: ["prometheus", "promtool"], fetch: unpackPrometheus },
  { tools: ["chromium"], fetch: installChromium },
  { tools: ["client-python"], fetch: installPythonClients },
];

mkdirSync(toolFolder, { recursive: true });
for (const { tools, fetch } of sources) {
  if (tools.every((name) => findTool(name) !== undefined)) continue;
  try {
    await fetch();
  } catch (error) {
    process.stderr.write(`${tools.join(", ")}: ${reasonOf(error)}\n`);
  }
}
for (const name of toolNames) process.stdout.write(`${name}: ${findTool(name) ?? "missing"}\n`);
process.exitCode = toolNames.every((name) => findTool(name) !== undefined) ? 0 : 1;

/** Their sources come from the proxy for Go modules; `go.sum` has the digests. Takes some minutes. */
async function buildWithGo(): Promise<void> {
  const programs = ["./decode", "helm.sh/helm/v4/cmd/helm"];
  await run("go", ["build", "-trimpath", "-o", `${toolFolder}/`, ...programs], {
    cwd: resolve("test/tools"),
  });
}

/** Debian's package is unpacked and not installed, because that would start a service. */
async function unpackPrometheus(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-tools-"));
  try {
    await downloadPrometheus(folder);
    const [file = ""] = readdirSync(folder);
    await run("dpkg-deb", ["--extract", join(folder, file), join(folder, "content")]);
    for (const name of ["prometheus", "promtool"]) {
      copyFileSync(join(folder, "content/usr/bin", name), join(toolFolder, name));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Debian's package is installed, with the libraries that it needs, which only root may do. */
async function installChromium(): Promise<void> {
  await run("apt-get", ["update"]);
  await run("apt-get", ["install", "--yes", "--no-install-recommends", "chromium"]);
}

async function downloadPrometheus(folder: string): Promise<void> {
  const download = async (): Promise<unknown> =>
    await run("apt-get", ["download", "prometheus"], { cwd: folder });
  try {
    await download();
  } catch {
    // A new machine has no list of packages, and only root may fetch one.
    await run("apt-get", ["update"]);
    await download();
  }
}

/** Python with clients of the API, and with what generates more of them. */
async function installPythonClients(): Promise<void> {
  const folder = join(toolFolder, "python");
  const python = join(folder, "bin/python");
  await run("python3", ["-m", "venv", folder]);
  const requirements = resolve("test/tools/requirements.txt");
  await run(python, ["-m", "pip", "install", "--quiet", "--requirement", requirements]);
  // A link would not find the packages, which Python looks for beside the program that is started.
  const script = `#!/bin/sh\nPATH="${folder}/bin:$PATH" exec "${python}" "$@"\n`;
  writeFileSync(join(toolFolder, "client-python"), script, { mode: 0o755 });
}

function reasonOf(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return message.trim().replaceAll(/\s*\n\s*/g, ", ");
}
