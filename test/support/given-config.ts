import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { parseFlags } from "../../src/config/flags.ts";
import { configFlags, type Loaded, loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/options.ts";

/** What a command is started with. */
export interface Given {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export function problemsOf({ args = [], env = {} }: Given): readonly string[] {
  const { values, problems } = parseFlags(args, configFlags());
  const loaded = loadConfig({ flags: values, env });
  return [...problems, ...(loaded.kind === "problems" ? loaded.problems : [])];
}

export function configOf(given: Given): Config {
  return loadedFrom(given).config;
}

/** The configuration with what there is to tell about it; there is nothing wrong with it. */
export function loadedFrom({
  args = [],
  env = {},
}: Given): Extract<Loaded, { readonly kind: "config" }> {
  const { values, problems } = parseFlags(args, configFlags());
  assert.deepEqual(problems, []);
  const loaded = loadConfig({ flags: values, env });
  assert.ok(loaded.kind === "config", "problems" in loaded ? loaded.problems.join("\n") : "");
  return loaded;
}

/** The path of a file that is gone after the test. */
export function file(t: TestContext, content: string | Buffer, name = "config.yaml"): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-config-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
