import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";

import { EditorClient } from "../lsp/editor-client.ts";
import { runCommand } from "../support/commands-process.ts";
import { runPemba, startPemba } from "../support/pemba.ts";

test("an editor is answered through a session of edits, and the command ends with it", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pemba-lsp-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [model, tests] = [join(folder, "model.perm"), join(folder, "model.yaml")];
  writeFileSync(tests, "schema: model.perm\nrelationships: [doc:1#owner@user:1]\nscenarios: []\n");
  const running = startPemba(["lsp", "--stdio"], { cwd: folder });
  t.after(() => running.process.kill("SIGKILL"));
  const { stdin, stdout } = running.process;
  assert.ok(stdin !== null && stdout !== null);
  const connection = createProtocolConnection(
    new StreamMessageReader(stdout),
    new StreamMessageWriter(stdin),
  );
  const client = new EditorClient(connection);
  const { capabilities, serverInfo } = await client.start(folder);
  assert.deepEqual([serverInfo?.name, capabilities.hoverProvider], ["pemba", true]);

  const [problem] = await client.open(
    model,
    "entity user {}\nentity doc { relation owner @usr }\n",
  );
  assert.deepEqual(problem?.range.start, { line: 1, character: 29 });
  assert.match(problem.codeDescription?.href ?? "", /^file:.*\/docs\/language\.md$/);
  const [mend] = await client.actions(model, problem);
  await client.applyEverywhere(mend?.edit ?? {});
  assert.deepEqual(await client.change(model, "}\nentity", "}\n\nentity"), []);
  await client.change(model, " }\n", " permission edit = o }\n");
  const offered = await client.complete(model, "edit = o");
  assert.deepEqual(
    offered?.items.map(({ label }) => label),
    ["owner"],
  );
  await client.change(model, "= o }", "= owner }");
  await client.apply(model, await client.format(model));
  const others = await client.applyEverywhere(await client.rename(model, "owner @user", "author"));
  assert.equal(
    client.text(model),
    "entity user {}\n\nentity doc {\n  relation author @user\n  permission edit = author\n}\n",
  );
  assert.deepEqual(
    [...others.values()].flat().map(({ newText }) => newText),
    ["author"],
  );
  await client.stop();
  const { status, stderr } = await running.finished;
  connection.dispose();
  assert.deepEqual([status, stderr], [0, ""]);
});

test("the command ends when its editor is gone", async () => {
  const { status, stdout } = await runPemba(["lsp", "--stdio"]);
  assert.deepEqual([status, stdout], [1, ""]);
});

test("the command says that it speaks over standard input and output alone", async () => {
  const { status, stderr } = await runCommand(["lsp"]);
  assert.deepEqual([status, stderr], [1, "pemba: lsp: expected --stdio\n"]);
});
