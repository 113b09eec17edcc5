import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";

import { blocksOfPage } from "../docs/page-blocks.ts";
import { servePemba } from "../support/pemba.ts";
import { engineNames, serveSecurely } from "../support/secure-server.ts";
import { findTool, whyNoTools } from "../support/tools.ts";

/*
 * The programs of docs/clients.md, each against a server of either engine with TLS and a token.
 */

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const protos = join(root, "proto");

/** A program that is started with the address, the token and the certificate as its last words. */
interface Built {
  readonly file: string;
  readonly words: readonly string[];
}

/** Builds a program in a copy of its folder. */
const builders: Readonly<Record<string, (folder: string) => Promise<Built>>> = {
  node: async () => ({
    // In its place, because it needs packages of this repository.
    file: process.execPath,
    words: [join(root, "examples/clients/node/main.js"), protos],
  }),
  python: async (folder) => {
    const python = findTool("client-python") ?? "";
    const files = ["base/v1/*.proto", "google/api/expr/v1alpha1/*.proto"];
    const words = ["-I", protos, "--python_out", folder, "--grpc_python_out", folder];
    await shell(`"$@" ${files.map((file) => `${protos}/${file}`).join(" ")}`, [
      python,
      "-m",
      "grpc_tools.protoc",
      ...words,
    ]);
    return { file: python, words: [join(folder, "main.py")] };
  },
  go: async (folder) => {
    const path = [join(root, "node_modules/.bin"), process.env["PATH"] ?? ""].join(delimiter);
    const words = ["generate", protos, "--path", join(protos, "base")];
    await run("buf", words, { cwd: folder, env: { ...process.env, PATH: path } });
    await run("go", ["build", "-o", "client", "."], { cwd: folder });
    return { file: join(folder, "client"), words: [] };
  },
  java: async (folder) => {
    const classpath = join(folder, "classpath");
    const goals = ["compile", "dependency:build-classpath", `-Dmdep.outputFile=${classpath}`];
    await run("mvn", ["--quiet", "--batch-mode", `-Dpemba.proto=${protos}`, ...goals], {
      cwd: folder,
    });
    const script = `java -cp "target/classes:$(cat classpath)" Main "$@"`;
    return { file: "sh", words: ["-c", `cd "${folder}" && ${script}`, "sh"] };
  },
  rust: async (folder) => {
    await run("cargo", ["build"], { cwd: folder, env: { ...process.env, PEMBA_PROTO: protos } });
    return { file: join(folder, "target/debug/pemba-client"), words: [] };
  },
};

/** What a language needs that npm does not have. */
const programs: Readonly<Record<string, string>> = { go: "go", java: "mvn", rust: "cargo" };

for (const [language, build] of Object.entries(builders)) {
  test(`the program in ${language} asks both engines with TLS and a token`, async (t) => {
    const why = await whyNot(language);
    if (why !== undefined) {
      t.skip(why);
      return;
    }
    const { file, words } = await build(copyOf(t, language));
    for (const engine of engineNames) {
      const { grpc, token, certificate } = await serveSecurely(t, engine);
      const { stdout } = await run(file, [...words, grpc, token, certificate]);
      assert.equal(stdout, "CHECK_RESULT_ALLOWED\n");
    }
  });
}

test("the server that docs/clients.md starts answers the program in node", async (t) => {
  const why = await whyNotProgram("openssl");
  if (why !== undefined) {
    t.skip(why);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "pemba-clients-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { text = "" } =
    blocksOfPage(root, "docs/clients.md").find(({ text: own }) => own.includes("openssl")) ?? {};
  const [making = "", starting = ""] = text.split(/\n(?=SERVICE_)/);
  await run("sh", ["-c", making], { cwd: folder });
  const env = Object.fromEntries(
    [...starting.matchAll(/\b(SERVICE_\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
  const [, flags = ""] = starting.split("npm start -- ");
  const { grpc } = await servePemba(t, flags.trim().split(/\s+/), { env, cwd: folder });
  const program = join(root, "examples/clients/node/main.js");
  const address = grpc.replace("127.0.0.1", "localhost");
  const words = [program, protos, address, "TOKEN", join(folder, "tls.crt")];
  const { stdout } = await run(process.execPath, words);
  assert.equal(stdout, "CHECK_RESULT_ALLOWED\n");
});

async function whyNot(language: string): Promise<string | undefined> {
  const missing = language === "python" && whyNoTools("client-python");
  if (missing !== false) return missing;
  const program = programs[language];
  return program === undefined ? undefined : await whyNotProgram(program);
}

async function whyNotProgram(program: string): Promise<string | undefined> {
  return await run("sh", ["-c", `command -v ${program}`]).then(
    () => undefined,
    () => `there is no ${program}`,
  );
}

function copyOf(t: TestContext, language: string): string {
  const folder = mkdtempSync(join(tmpdir(), `pemba-${language}-`));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, "examples/clients", language), folder, { recursive: true });
  return folder;
}

/** Runs a line of the shell, with words for it. */
async function shell(line: string, words: readonly string[]): Promise<void> {
  await run("sh", ["-c", line, "sh", ...words]);
}
