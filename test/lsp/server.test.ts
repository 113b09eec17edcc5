import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, test } from "node:test";

import { TextDocument } from "vscode-languageserver-textdocument";
import {
  createConnection,
  createProtocolConnection,
  type Diagnostic,
  MarkupContent,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";

import { serveEditor } from "../../src/lsp/server.ts";
import { EditorClient } from "./editor-client.ts";

const schema = `entity user {}

entity document {
  relation owner @user
  relation viewer @user

  permission view = owner or viewer
}
`;

const tests = `schema: model.perm
relationships:
  - document:1#owner@user:ada
scenarios:
  - checks:
      - entity: document:1
        subject: user:ada
        assertions: { view: true }
`;

let folder: string;
let client: EditorClient;
let stop: () => void;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "pemba lsp-"));
  writeFileSync(join(folder, "model.perm"), schema);
  writeFileSync(join(folder, "model.yaml"), tests);
  const [up, down] = [new PassThrough(), new PassThrough()];
  const server = createConnection(new StreamMessageReader(up), new StreamMessageWriter(down));
  serveEditor(server, (page) => `https://docs.test/${page}`);
  const connection = createProtocolConnection(
    new StreamMessageReader(down),
    new StreamMessageWriter(up),
  );
  client = new EditorClient(connection);
  stop = () => {
    connection.dispose();
    server.dispose();
  };
  await client.start(folder);
});

afterEach(() => {
  stop();
  rmSync(folder, { recursive: true });
});

const at = (name: string): string => join(folder, name);

/** `line:column code`, counted from 1, as people read them. */
function places(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.map(
    ({ range: { start }, code }) => `${start.line + 1}:${start.character + 1} ${code}`,
  );
}

test("problems follow the text while it is written", async () => {
  assert.deepEqual(await client.open(at("model.perm"), schema), []);
  assert.deepEqual(places(await client.change(at("model.perm"), "owner or", "ownr or")), [
    "7:21 SCHEMA_COMPILE",
  ]);
  const [problem] = await client.change(at("model.perm"), "ownr or ", "");
  assert.deepEqual(
    [problem?.code, problem?.severity, problem?.source, problem?.codeDescription],
    ["unreachable-name", 2, "pemba", { href: "https://docs.test/lint.md#unreachable-name" }],
  );
  assert.deepEqual(await client.change(at("model.perm"), "= viewer", "= owner or viewer"), []);
});

test("a model test is looked at with its schema, and again when the schema changes", async () => {
  await client.open(at("model.perm"), schema);
  assert.deepEqual(await client.open(at("model.yaml"), tests), []);
  assert.deepEqual(places(await client.change(at("model.yaml"), "view:", "edit:")), [
    "8:23 PERMISSION_NOT_FOUND",
  ]);
  await client.change(at("model.perm"), "permission view", "permission edit");
  assert.deepEqual(await client.change(at("model.yaml"), "true }", "true  }"), []);
});

test("a model test whose schema is missing says so at its name", async () => {
  const text = tests.replace("model.perm", "other.perm");
  const [problem] = await client.open(at("model.yaml"), text);
  assert.deepEqual(
    [problem?.message, problem?.range.start],
    ["there is no schema file `other.perm` that can be read here", { line: 0, character: 8 }],
  );
});

test("a model test finds its schema under any name", async () => {
  writeFileSync(at("model.txt"), schema);
  const text = tests.replace("model.perm", "model.txt").replace("view:", "see:");
  assert.deepEqual(places(await client.open(at("model.yaml"), text)), [
    "8:23 PERMISSION_NOT_FOUND",
  ]);
});

test("YAML that is no model test is left alone", async () => {
  assert.deepEqual(await client.open(at("values.yaml"), "schema: [\n"), []);
  assert.equal(await client.hover(at("values.yaml"), "schema"), null);
});

test("hover, definition and references go from a model test to its schema and back", async () => {
  await client.open(at("model.yaml"), tests);
  await client.open(at("model.perm"), schema);
  const hover = await client.hover(at("model.yaml"), "owner@");
  assert.ok(hover !== null && MarkupContent.is(hover.contents));
  assert.equal(
    hover.contents.value,
    "```perm\nrelation owner @user\n```\n\nrelation `document#owner`\n\nUsed in `document#view`.",
  );
  const [definition] = await client.definition(at("model.yaml"), "view: true");
  assert.ok(definition !== undefined);
  assert.ok(definition.uri.endsWith("model.perm"));
  assert.deepEqual(definition.range.start, { line: 6, character: 13 });
  const references = await client.references(at("model.perm"), "owner @user");
  assert.deepEqual(
    references.map(({ uri, range }) => `${uri.split("/").at(-1)} ${range.start.line + 1}`),
    ["model.perm 4", "model.perm 7", "model.yaml 3"],
  );
  assert.equal((await client.references(at("model.perm"), "owner @user", false)).length, 2);
});

test("a rename goes through open texts and through model tests on the disk", async () => {
  mkdirSync(at("more"));
  writeFileSync(at("more/other.yaml"), tests.replace("document:1#owner", "document:2#owner"));
  writeFileSync(at("more/foreign.yaml"), tests.replace("model.perm", "foreign.perm"));
  await client.open(at("model.perm"), schema);
  await client.open(at("model.yaml"), tests);
  // What is written and not saved counts.
  await client.change(
    at("model.yaml"),
    "user:ada\nscenarios",
    "user:ada\n  - document:3#owner@user:eve\nscenarios",
  );
  const others = await client.applyEverywhere(
    await client.rename(at("model.perm"), "owner @user", "author"),
  );
  assert.equal(client.text(at("model.perm")), schema.replaceAll("owner", "author"));
  assert.equal(
    client.text(at("model.yaml")),
    tests
      .replace("user:ada\nscenarios", "user:ada\n  - document:3#owner@user:eve\nscenarios")
      .replaceAll("owner", "author"),
  );
  assert.deepEqual(
    [...others].map(([uri, edits]) => {
      const text = readFileSync(new URL(uri), "utf8");
      return TextDocument.applyEdits(TextDocument.create(uri, "yaml", 1, text), [...edits]);
    }),
    [tests.replace("document:1#owner", "document:2#author")],
  );
});

test("a rename that would break the schema is refused with the reason", async () => {
  await client.open(at("model.perm"), schema);
  await assert.rejects(client.rename(at("model.perm"), "owner @user", "viewer"), {
    message: "entity `document` already has `viewer`",
  });
  await assert.rejects(client.prepareRename(at("model.perm"), "{}"), {
    message: "there is no name here",
  });
  assert.deepEqual(await client.prepareRename(at("model.perm"), "owner @user"), {
    range: { start: { line: 3, character: 11 }, end: { line: 3, character: 16 } },
    placeholder: "owner",
  });
});

test("completion, layout and symbols work for a schema inside a model test", async () => {
  const indented = schema.replaceAll(/^(?=.)/gm, "  ");
  const text = tests.replace("schema: model.perm", `schema: |\n${indented}`);
  await client.open(at("inside.yaml"), text);
  const offered = await client.complete(at("inside.yaml"), "view = own");
  assert.deepEqual(
    offered?.items.map(({ label, textEdit }) => [label, textEdit]),
    [
      [
        "owner",
        {
          newText: "owner",
          range: { start: { line: 7, character: 22 }, end: { line: 7, character: 25 } },
        },
      ],
    ],
  );
  assert.deepEqual(await client.format(at("inside.yaml")), []);
  await client.change(at("inside.yaml"), "relation owner", "relation    owner");
  await client.apply(at("inside.yaml"), await client.format(at("inside.yaml")));
  assert.equal(client.text(at("inside.yaml")), text);
  assert.deepEqual(
    (await client.symbols(at("inside.yaml"))).map(({ name, children }) => [
      name,
      children?.map((child) => child.name),
    ]),
    [
      ["user", []],
      ["document", ["owner", "viewer", "view"]],
    ],
  );
});

test("a model test is completed from its schema in another file, and with its own ids", async () => {
  await client.open(at("model.yaml"), tests.replace("@user:ada", "@user:ada\n  - document:1#view"));
  const labels = async (part: string): Promise<readonly string[]> => {
    const offered = await client.complete(at("model.yaml"), part);
    return offered?.items.map(({ label }) => label) ?? [];
  };
  assert.deepEqual(await labels("document:1#view"), ["viewer"]);
  assert.deepEqual(await labels("subject: user:a"), ["ada"]);
  assert.deepEqual(await labels("assertions: { vi"), ["view", "viewer"]);
});

test("what lint finds can be mended and silenced", async () => {
  const text = schema.replace("owner or viewer", "owner or viewer and owner");
  const [mixed] = await client.open(at("model.perm"), text);
  assert.ok(mixed !== undefined);
  const [mend, silence] = await client.actions(at("model.perm"), mixed);
  assert.deepEqual([mend?.isPreferred, silence?.title], [true, "Allow `mixed-operators` here"]);
  await client.applyEverywhere(mend?.edit ?? {});
  assert.equal(
    client.text(at("model.perm")),
    text.replace("owner or viewer and", "(owner or viewer) and"),
  );
});

test("a text that is closed has no problems any more", async () => {
  await client.open(at("model.perm"), "entity {");
  await client.close(at("model.perm"));
  assert.deepEqual(await client.open(at("model.perm"), schema), []);
});

test("a mistake of a large schema vanishes when it is mended, and all does when it is closed", async () => {
  const word = (number: number): string =>
    `e_${String(number).replaceAll(/\d/g, (digit) => "abcdefghij".charAt(Number(digit)))}`;
  const large = Array.from(
    { length: 1_000 },
    (_, number) =>
      `entity ${word(number)} {\n  relation parent @${word((number + 1) % 1_000)}\n  relation owner @user\n  permission view = owner or parent.view\n}`,
  ).join("\n");
  const text = `entity user {}\n${large}\n`;
  await client.open(at("model.perm"), text.replace("@user", "@usr"));
  const told = client.nextDiagnostics(at("model.perm"));
  // The end of the test may come before lint has ended.
  void client.change(at("model.perm"), "@usr", "@user").catch(() => undefined);
  assert.ok((await told).every(({ code }) => code !== "SCHEMA_COMPILE"));
  let left = client.nextDiagnostics(at("model.perm"));
  await client.close(at("model.perm"));
  while ((await left).length > 0) left = client.nextDiagnostics(at("model.perm"));
});
