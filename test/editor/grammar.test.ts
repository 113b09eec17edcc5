import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import oniguruma from "vscode-oniguruma";
import textmate, { type IGrammar } from "vscode-textmate";

import { commentsIn, opaqueSpansIn } from "../../src/language/comment.ts";
import { scanToken } from "../../src/language/lexer.ts";
import { parseSchema } from "../../src/language/parse.ts";
import { keywords } from "../../src/language/token.ts";
import type { SourceSpan } from "../../src/language/tree.ts";

const root = join(import.meta.dirname, "../..");
const extension = join(root, "editors/vscode");
const files: Readonly<Record<string, string>> = {
  "source.perm": "perm.tmLanguage.json",
  "source.perm.injection": "perm-in-yaml.tmLanguage.json",
};

async function loadGrammar(scope: string): Promise<IGrammar> {
  const wasm = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm");
  await oniguruma.loadWASM(readFileSync(wasm));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (name) => {
      if (name === "source.yaml") {
        const empty = JSON.stringify({ scopeName: name, patterns: [] });
        return textmate.parseRawGrammar(empty, "yaml.json");
      }
      const file = files[name];
      if (file === undefined) return null;
      const path = join(extension, "syntaxes", file);
      return textmate.parseRawGrammar(readFileSync(path, "utf8"), path);
    },
    getInjections: (name) => (name === "source.yaml" ? ["source.perm.injection"] : undefined),
  });
  const grammar = await registry.loadGrammar(scope);
  assert.ok(grammar !== null);
  return grammar;
}

/** The scopes of each character of a text. */
function scopesOf(grammar: IGrammar, text: string): readonly string[] {
  const scopes = Array.from(text, () => "");
  let start = 0;
  let stack = textmate.INITIAL;
  for (const line of text.split(/(?<=\n)/)) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line.replace(/\r?\n$/, ""), stack);
    for (const token of tokens) {
      for (let at = token.startIndex; at < Math.min(token.endIndex, line.length); at++) {
        scopes[start + at] = token.scopes.join(" ");
      }
    }
    stack = ruleStack;
    start += line.length;
  }
  return scopes;
}

/** The schemas of the examples and of docs/language.md. */
function schemas(): readonly string[] {
  const models = join(root, "examples/models");
  const page = readFileSync(join(root, "docs/language.md"), "utf8");
  return [
    ...readdirSync(models)
      .filter((name) => name.endsWith(".perm"))
      .map((name) => readFileSync(join(models, name), "utf8")),
    ...[...page.matchAll(/^```perm\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text),
  ];
}

/** What a part of a text should be, by a pattern of its scopes. */
interface Expected {
  readonly span: SourceSpan;
  readonly scope: RegExp;
}

/** What the lexer and the parser say of the parts of a schema. */
function* expectedOf(text: string): Generator<Expected> {
  const { statements } = parseSchema(text);
  const bodies = statements.flatMap((statement) =>
    statement.kind === "rule"
      ? [{ start: statement.body.offset, end: statement.body.offset + statement.body.text.length }]
      : [],
  );
  for (const span of commentsIn(text)) yield { span, scope: /\bcomment\b/ };
  for (const { start, end } of bodies) {
    for (const part of opaqueSpansIn(text.slice(start, end))) {
      if (part.kind === "comment") continue;
      yield { span: { start: start + part.start, end: start + part.end }, scope: /\bstring\b/ };
    }
  }
  let last = "";
  for (let token = scanToken(text, 0); token.kind !== "EOF"; token = scanToken(text, token.end)) {
    const body = bodies.find(({ start }) => start === token.end);
    const word = text.slice(token.start, token.end);
    if (keywords.has(word)) yield { span: token, scope: /\bkeyword\b/ };
    else if (token.kind === "IDENT") {
      const types = last === "entity" || last === "@";
      const calls = last === "permission" || last === "action" || last === "rule";
      const scope = types
        ? /entity\.name\.type/
        : calls
          ? /entity\.name\.function/
          : /\b(variable|support|entity)\b/;
      yield { span: token, scope };
    }
    last = word;
    if (body !== undefined) token = { ...token, end: body.end };
  }
}

test("the grammar colours each word of the examples as the lexer reads it", async () => {
  const grammar = await loadGrammar("source.perm");
  const texts = schemas();
  assert.ok(texts.length > 20);
  for (const text of texts) {
    const scopes = scopesOf(grammar, text);
    for (const { span, scope } of expectedOf(text)) {
      for (let at = span.start; at < span.end; at++) {
        // The break at the end of a line has no colour.
        if (/[\r\n]/.test(text.charAt(at))) continue;
        assert.match(scopes[at] ?? "", scope, `${text.slice(span.start, span.end)} in\n${text}`);
      }
    }
  }
});

test("the grammar goes on behind strings and braces in the body of a rule", async () => {
  const text = `rule r(a string) { a == "}" && {"x": a}["x"] == r'\\' && a == '''
}''' } // }
entity user {}
`;
  const scopes = scopesOf(await loadGrammar("source.perm"), text);
  assert.match(scopes[text.indexOf("user")] ?? "", /entity\.name\.type/);
  assert.match(scopes[text.indexOf("// }")] ?? "", /comment/);
  assert.match(scopes[text.indexOf("r'")] ?? "", /string/);
});

test("a schema inside a model test is coloured, and the rest of the file is not", async () => {
  const text = "# x\nschema: |\n  entity user {}\n\n  // more\nscenarios:\n  - entity: user:1\n";
  const scopes = scopesOf(await loadGrammar("source.yaml"), text);
  assert.match(scopes[text.indexOf("user {}")] ?? "", /entity\.name\.type\.perm/);
  assert.match(scopes[text.indexOf("// more")] ?? "", /comment\.line\.double-slash\.perm/);
  assert.equal(scopes[text.indexOf("scenarios")], "source.yaml");
  assert.equal(scopes[text.indexOf("entity: user:1")], "source.yaml");
});

test("the files that the extension names are there", () => {
  const manifest: unknown = JSON.parse(readFileSync(join(extension, "package.json"), "utf8"));
  const paths = [...JSON.stringify(manifest).matchAll(/"(\.\/[^"]+)"/g)].map(
    ([, path = ""]) => path,
  );
  assert.ok(paths.length >= 4);
  for (const path of paths) readFileSync(join(extension, path));
});
