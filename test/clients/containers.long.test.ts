import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";

import { pembaImage, whyNoContainers } from "../support/image.ts";
import { findTool } from "../support/tools.ts";

/*
 * The tests of applications in examples/tests, which docs/testing.md shows: each builds, and with a container
 * engine each runs against the image.
 */

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/testing.md"), "utf8");
const python = findTool("client-python") ?? "client-python";

/** A container of testcontainers looks for the engine when it is made, which the file does when it is loaded. */
const importWithoutEngine = `
from unittest.mock import patch
with patch("testcontainers.core.container.DockerClient"):
    import test_pemba
`;

interface Language {
  /** The file with the tests. */
  readonly file: string;
  /** A program and its words: what only builds, and what runs the tests too. */
  readonly build: readonly [string, ...string[]];
  readonly run: readonly [string, ...string[]];
  /** What the run prints if it has run both tests. */
  readonly passed: RegExp;
}

const languages: Readonly<Record<string, Language>> = {
  go: {
    file: "pemba_test.go",
    build: ["go", "vet", "."],
    run: ["go", "test", "-v", "."],
    passed: /^ {4}--- PASS: .*\n {4}--- PASS: /m,
  },
  java: {
    file: "src/test/java/PembaTest.java",
    build: ["mvn", "--quiet", "--batch-mode", "test-compile"],
    run: ["mvn", "--batch-mode", "test"],
    passed: /Tests run: 2, Failures: 0, Errors: 0, Skipped: 0/,
  },
  python: {
    file: "test_pemba.py",
    build: [python, "-c", importWithoutEngine],
    run: [python, "-m", "unittest", "--verbose"],
    passed: /^Ran 2 tests .*\n\nOK$/m,
  },
};

for (const [language, { file, build, run: tests, passed }] of Object.entries(languages)) {
  test(`the tests in ${language} build, and pass where there is a container engine`, async (t) => {
    const why = await whyNot(build[0]);
    if (why !== undefined) {
      t.skip(why);
      return;
    }
    const folder = copyOf(t, language);
    const noContainers = await whyNoContainers();
    if (noContainers !== undefined) {
      await start(build, folder);
      t.diagnostic(`built and not run: ${noContainers}`);
      return;
    }
    const own = join(folder, file);
    writeFileSync(own, readFileSync(own, "utf8").replace('"pemba"', `"${await pembaImage()}"`));
    assert.match(await start(tests, folder), passed);
  });

  test(`docs/testing.md shows a part of the tests in ${language}`, () => {
    const [, shown = ""] = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "m").exec(page) ?? [];
    const whole = linesOf(readFileSync(join(root, "examples/tests", language, file), "utf8"));
    const lines = linesOf(shown);
    assert.ok(lines.length > 5);
    assert.deepEqual(
      lines.filter((line) => !whole.includes(line)),
      [],
    );
  });
}

/** All that a program prints. Fails if the program does. */
async function start(
  [program, ...words]: readonly [string, ...string[]],
  cwd: string,
): Promise<string> {
  const { stdout, stderr } = await run(program, words, { cwd });
  return stdout + stderr;
}

async function whyNot(program: string): Promise<string | undefined> {
  return await run("sh", ["-c", 'command -v "$1"', "sh", program]).then(
    () => undefined,
    () => `there is no ${program}`,
  );
}

function copyOf(t: TestContext, language: string): string {
  const folder = mkdtempSync(join(tmpdir(), `pemba-tests-${language}-`));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, "examples/tests", language), folder, { recursive: true });
  return folder;
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
}
