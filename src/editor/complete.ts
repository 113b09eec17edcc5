import { inspections } from "../authoring/lint/inspections.ts";
import type { Steps } from "../base/steps.ts";
import { attributeTypes } from "../base/tuple.ts";
import { functionNames, methodNames } from "../condition/standard-library.ts";
import type { SourceSpan } from "../language/tree.ts";
import type { SchemaAnalysis } from "./analysis.ts";
import { type CompletionPlace, completionSpot } from "./completion-place.ts";
import { codeOf } from "./hover.ts";
import { type Declaration, type DeclaredKind, nameOf } from "./naming.ts";
import { macroNames } from "./rule-body.ts";

/** Something that can be written. */
export interface Suggestion {
  readonly label: string;
  readonly kind: DeclaredKind | "keyword" | "value-type" | "function" | "lint-code" | "id";
  /** What it is, in a few words. */
  readonly detail: string;
  /** The text that takes the place of the word. */
  readonly insert: string;
}

export interface Completions {
  /** The word that a suggestion replaces. */
  readonly word: SourceSpan;
  readonly suggestions: readonly Suggestion[];
  /** Whether there are no others. If not, there may be others once more of the word is written. */
  readonly isWhole: boolean;
}

/** People choose from few. The rest is found by writing on. */
const suggestionsMax = 500;

/** What can be written at an offset, the most likely first. */
export function* completionsAt(analysis: SchemaAnalysis, offset: number): Steps<Completions> {
  const { place, word } = yield* completionSpot(analysis, offset);
  yield;
  const typed = analysis.source.text.slice(word.start, word.end);
  return completionsOf(suggestionsFor(analysis, place), word, typed);
}

/** The suggestions that what is typed of a word is a part of. */
export function completionsOf(
  suggestions: readonly Suggestion[],
  word: SourceSpan,
  typed: string,
): Completions {
  const part = typed.toLowerCase();
  const fitting = suggestions.filter(({ label }) =>
    label.toLowerCase().replace(/^@/, "").includes(part),
  );
  const isWhole = fitting.length <= suggestionsMax;
  return { word, suggestions: fitting.slice(0, suggestionsMax), isWhole };
}

function suggestionsFor(analysis: SchemaAnalysis, place: CompletionPlace): readonly Suggestion[] {
  const { names } = analysis;
  const shown = (declarations: readonly Declaration[]): readonly Suggestion[] =>
    declarations.map((declaration) => named(analysis, declaration));
  switch (place.kind) {
    case "statement":
      return words(["entity", "rule"]);
    case "member":
      return words(memberWords);
    case "next-type":
      return [
        ...shown(entitiesOf(analysis)).map(withAt),
        ...(place.isFirst ? [] : words(memberWords)),
      ];
    case "type":
      return shown(entitiesOf(analysis));
    case "userset":
      return shown(membersOf(analysis, place.type).filter(({ kind }) => kind === "relation"));
    case "value-type":
      return attributeTypes.map((type) => simple(type, "value-type", "type of an attribute"));
    case "operand":
      return [
        ...shown(operandsFor(analysis, place)),
        ...rulesOf(analysis).map((rule) => called(analysis, rule)),
      ];
    case "operator":
      return words(["or", "and", "not", ...memberWords]);
    case "walk":
      return shown(names.askableThrough(place.entity, place.relation));
    case "argument":
      return shown(argumentsFor(analysis, place));
    case "rule-body":
      return [...shown(parametersOf(analysis, place.rule)), ...functions];
    case "context":
      return [simple("data", "keyword", "the data of the request")];
    case "method":
      return methods;
    case "lint-code":
      return inspections.map(({ code, severity }) => simple(code, "lint-code", severity));
    case "none":
      return [];
  }
}

const memberWords = ["relation", "attribute", "permission"];

const methods: readonly Suggestion[] = [...macroNames, ...methodNames].map((name) =>
  simple(name, "function", "method"),
);

const functions: readonly Suggestion[] = [
  simple("context.data", "keyword", "the data of the request"),
  ...functionNames.map((name) => simple(name, "function", "function")),
];

function words(keywords: readonly string[]): readonly Suggestion[] {
  return keywords.map((keyword) => simple(keyword, "keyword", "keyword"));
}

function simple(label: string, kind: Suggestion["kind"], detail: string): Suggestion {
  return { label, kind, detail, insert: label };
}

function named({ source }: SchemaAnalysis, declaration: Declaration): Suggestion {
  return simple(nameOf(declaration), declaration.kind, codeOf(source.text, declaration));
}

function withAt(suggestion: Suggestion): Suggestion {
  return { ...suggestion, label: `@${suggestion.label}`, insert: `@${suggestion.insert}` };
}

/** Arguments have the names of the parameters. */
function called(analysis: SchemaAnalysis, rule: Declaration): Suggestion {
  const suggestion = named(analysis, rule);
  return { ...suggestion, insert: `${suggestion.label}(${rule.children.map(nameOf).join(", ")})` };
}

function entitiesOf({ outline }: SchemaAnalysis): readonly Declaration[] {
  return outline.declarations.filter(isNamed).filter(({ kind }) => kind === "entity");
}

function rulesOf({ outline }: SchemaAnalysis): readonly Declaration[] {
  return outline.declarations.filter(isNamed).filter(({ kind }) => kind === "rule");
}

function membersOf({ names }: SchemaAnalysis, entity: string): readonly Declaration[] {
  return names.entity(entity)?.children.filter(isNamed) ?? [];
}

function parametersOf({ names }: SchemaAnalysis, rule: string): readonly Declaration[] {
  return names.rule(rule)?.children.filter(isNamed) ?? [];
}

/** A declaration that is being written has no name yet. */
function isNamed(declaration: Declaration): boolean {
  return nameOf(declaration) !== "";
}

/** What can stand in an expression. A permission that is its own operand allows no one more. */
function operandsFor(
  analysis: SchemaAnalysis,
  { entity, permission }: Extract<CompletionPlace, { readonly kind: "operand" }>,
): readonly Declaration[] {
  return membersOf(analysis, entity).filter(
    ({ key, kind, types }) =>
      key !== permission && (kind !== "attribute" || types[0]?.type === "boolean"),
  );
}

/** The attributes that fit a parameter by name and by type, without those that are there. */
function argumentsFor(
  analysis: SchemaAnalysis,
  { entity, rule, given }: Extract<CompletionPlace, { readonly kind: "argument" }>,
): readonly Declaration[] {
  const present = new Set(given);
  return membersOf(analysis, entity).filter((member) => {
    const name = nameOf(member);
    const parameter = analysis.names.parameter(rule, name);
    const isFree = member.kind === "attribute" && parameter !== undefined && !present.has(name);
    return isFree && parameter.types[0]?.type === member.types[0]?.type;
  });
}
