import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tooOld } from "../../src/cli/needed-node.ts";
import { runPemba } from "../support/pemba.ts";

const root = join(import.meta.dirname, "../..");

/** The oldest version that package.json admits, as its number. */
function oldestAdmitted(): string {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly engines: { readonly node: string };
  };
  return /^>=(\d+\.\d+)$/.exec(engines.node)?.[1] ?? assert.fail(engines.node);
}

test("every Node that the package admits is new enough", () => {
  const oldest = oldestAdmitted();
  for (const version of [`${oldest}.0`, `${oldest}.1`, "24.100.0", "25.0.0", "26.10.0"]) {
    assert.equal(tooOld(version), undefined, version);
  }
});

/** What an older Node is told. */
function messageFor(version: string): string {
  const oldest = oldestAdmitted();
  const [major] = oldest.split(".");
  return `needs Node ${oldest} or newer, and this is Node ${version}: \`npm install --save-dev node@${major}\` brings one into a project, and \`npm ci\` into a clone`;
}

test("an older Node is told in a line which one is needed, and how to get it", () => {
  for (const version of ["24.11.1", "24.2.0", "22.30.0", "9.99.99"]) {
    assert.equal(tooOld(version), messageFor(version));
  }
});

test("a Node that cannot run the sources of a clone is told the same", async () => {
  for (const main of ["bin/pemba.js", "bin/needed-node.js"]) {
    // This Node can be told that it cannot.
    const { status, stdout, stderr } = await runPemba(["version"], {
      main: join(root, main),
      env: { NODE_OPTIONS: "--no-strip-types" },
    });
    assert.deepEqual([status, stdout], [1, ""], main);
    assert.equal(stderr, `pemba: ${messageFor(process.versions.node)}\n`);
  }
});

test("`npm start` asks for the Node before it passes flags that an older one lacks", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  assert.equal(scripts["prestart"], "node bin/needed-node.js");
});
