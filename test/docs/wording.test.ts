import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");

/** Made from texts that are kept elsewhere. */
const generated = ["docs/configuration.md"];

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...["bench", "docs", "examples", "src"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  ),
].filter((page) => !generated.includes(page));

/** Words that make a sentence hard to read for people whose language is another one. */
const vague = /\b(whoever|whatever|whomever|nobody|somebody|as if none)\b/i;

/** Words that docs/glossary.md has another term for. */
const retired =
  /\b(turn queue|tak(e|es|ing) turns|relax(ed)?|glances?|lanes?|riders?|doorbells?|network plans?)\b/i;

test("no page has a word that says too little", () => {
  assert.deepEqual(linesWith(vague), []);
});

test("no page has a word for which the glossary has a term", () => {
  assert.deepEqual(linesWith(retired), []);
});

test("docs/glossary.md defines each term once", () => {
  const glossary = readFileSync(join(root, "docs/glossary.md"), "utf8");
  const terms = [...glossary.matchAll(/^\| (?<term>[^|]*?) +\|/gm)]
    .map(({ groups }) => groups?.["term"] ?? "")
    .filter((term) => term !== "Term" && !/^-+$/.test(term));
  assert.ok(terms.length > 50);
  assert.deepEqual(
    terms.filter((term, index) => terms.indexOf(term) !== index),
    [],
  );
});

test("docs/architecture.md puts a term in bold where it first explains it, as the glossary spells it", () => {
  const architecture = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const glossary = readFileSync(join(root, "docs/glossary.md"), "utf8");
  const bold = [...architecture.matchAll(/\*\*(?<term>[a-z][^*]*)\*\*/g)].map(
    ({ groups }) => groups?.["term"] ?? "",
  );
  assert.ok(bold.length > 10);
  assert.deepEqual(
    bold.filter((term) => !glossary.includes(`| ${term} `)),
    [],
  );
});

/** Lines of prose that match; code, names of files and addresses are not prose. */
function linesWith(pattern: RegExp): readonly string[] {
  return pages.flatMap((page) =>
    readFileSync(join(root, page), "utf8")
      .replaceAll(/^( *)```[^]*?^\1```$/gm, (block) => block.replaceAll(/[^\n]/g, ""))
      .split("\n")
      .flatMap((line, index) =>
        pattern.test(line.replaceAll(/`[^`]*`|\]\([^)]*\)/g, ""))
          ? [`${page}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  );
}
