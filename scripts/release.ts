import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";

import { findTool } from "../test/support/tools.ts";
import { unreleasedNotes, withRelease } from "./changelog.ts";
import { writeArtefacts } from "./release-artefacts.ts";

/*
 * Makes a release: `npm run release -- VERSION`. All is made in a clone of the last commit, and commit and
 * tag come here when everything has been made. `--dry-run` leaves them there. Nothing is pushed but the
 * image, if it has a name.
 */

const run = promisify(execFile);

const usage = "usage: npm run release -- VERSION [--dry-run] [--image NAME] [--out FOLDER]";

interface ReleaseOrder {
  readonly version: string;
  readonly isDryRun: boolean;
  /** Such as `images.example/pemba`. Undefined for no image. */
  readonly image: string | undefined;
  /** Where the artefacts go. */
  readonly out: string;
}

try {
  const order = readOrder();
  const problems = await problemsOf(order);
  if (problems.length > 0) throw new Error(problems.join("; "));
  await release(order);
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function readOrder(): ReleaseOrder {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "dry-run": { type: "boolean", default: false },
      image: { type: "string" },
      out: { type: "string", default: "release" },
    },
  });
  const [version = "", ...surplus] = positionals;
  if (!/^\d+\.\d+\.\d+$/.test(version) || surplus.length > 0) throw new Error(usage);
  const { "dry-run": isDryRun, image, out } = values;
  return { version, isDryRun, image, out: resolve(out) };
}

/** Why this version cannot be released from here. */
async function problemsOf({ version, isDryRun }: ReleaseOrder): Promise<readonly string[]> {
  const found: string[] = [];
  const tags = (await git(".", "tag", "--list", "v*")).split("\n").filter((tag) => tag !== "");
  const newest = tags
    .map((tag) => tag.slice(1))
    .toSorted(byVersion)
    .at(-1);
  if (newest !== undefined && byVersion(version, newest) <= 0) {
    found.push(`${version} is not newer than ${newest}`);
  }
  if (!isDryRun && (await git(".", "status", "--porcelain")) !== "") {
    found.push("there are changes that are not committed");
  }
  if (!isDryRun && (await configured("user.email")) === "") {
    found.push("git does not know who releases: `user.email` is not set");
  }
  if (!isDryRun && findTool("helm") === undefined) {
    found.push("there is no helm for the chart, `npm run tools` fetches it");
  }
  if (unreleasedNotes(await git(".", "show", "HEAD:CHANGELOG.md")) === "") {
    found.push("CHANGELOG.md has nothing under `Unreleased`");
  }
  return found;
}

async function release({ version, isDryRun, image, out }: ReleaseOrder): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "pemba-release-"));
  const clone = join(work, "pemba");
  try {
    await git(".", "clone", "--quiet", "--no-hardlinks", resolve("."), clone);
    const notes = unreleasedNotes(readFileSync(join(clone, "CHANGELOG.md"), "utf8"));
    await setVersion(clone, version);
    await commit(clone, version, notes);
    say("installing packages");
    await run("npm", ["ci"], { cwd: clone });
    mkdirSync(out, { recursive: true });
    await writeArtefacts({ root: clone, out, version, image, isDryRun }, say);
    if (isDryRun) {
      say(`nothing is tagged: this is a dry run, its artefacts are in ${out}`);
      return;
    }
    await git(
      ".",
      "fetch",
      "--quiet",
      clone,
      "HEAD",
      `refs/tags/v${version}:refs/tags/v${version}`,
    );
    await git(".", "merge", "--quiet", "--ff-only", `v${version}`);
    say(`tagged v${version}, the artefacts are in ${out}`);
    say(`next: git push origin HEAD v${version}; npm publish ${join(out, `pemba-${version}.tgz`)}`);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Writes the version to every file that has it. */
async function setVersion(root: string, version: string): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  edit(join(root, "CHANGELOG.md"), (text) => withRelease(text, version, day));
  edit(join(root, "docs/openapi.json"), (text) =>
    text.replace(/"version": "[^"]*"/, () => `"version": "${version}"`),
  );
  edit(join(root, "deploy/helm/pemba/Chart.yaml"), (text) =>
    text.replaceAll(/^(version|appVersion): .*$/gm, (_, key: string) => `${key}: ${version}`),
  );
  const words = ["version", version, "--no-git-tag-version", "--allow-same-version"];
  await run("npm", words, { cwd: root });
}

async function commit(root: string, version: string, notes: string): Promise<void> {
  for (const key of ["user.name", "user.email"]) {
    await git(root, "config", key, (await configured(key)) || "release");
  }
  await git(root, "commit", "--quiet", "--all", "--message", `release: make version ${version}`);
  const message = `Pemba ${version}\n\n${notes}\n`;
  // Else the headings of the notes would be comments.
  await git(root, "tag", "--annotate", "--cleanup=verbatim", "--message", message, `v${version}`);
}

/** A setting of git in this repository. Empty if it is not set. */
async function configured(key: string): Promise<string> {
  return await git(".", "config", "--default", "", "--get", key);
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, "utf8")));
}

async function git(root: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run("git", ["-C", root, ...words]);
  return stdout.trim();
}

function byVersion(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
