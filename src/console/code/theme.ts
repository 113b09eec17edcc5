import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const look = EditorView.theme({
  "&": {
    height: "100%",
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    fontSize: "var(--text-s)",
  },
  // The ring of the focus is around the whole editor, in the style sheet.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--accent)", padding: "var(--space-2) 0" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  ".cm-gutters": {
    backgroundColor: "var(--surface)",
    color: "var(--muted)",
    border: "none",
    paddingLeft: "var(--space-1)",
  },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)" },
  ".cm-tooltip, .cm-panels": {
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    color: "var(--on-accent)",
    backgroundColor: "var(--accent)",
  },
  ".cm-cards": { padding: "var(--space-2) var(--space-3)", maxWidth: "min(520px, 90vw)" },
  ".cm-cards code": { display: "block", fontFamily: "var(--mono)", overflowWrap: "anywhere" },
  ".cm-cards p": { margin: "var(--space-1) 0 0", color: "var(--muted)", fontFamily: "var(--font)" },
  ".cm-diagnosticAction": {
    color: "var(--accent)",
    backgroundColor: "transparent",
    border: "1px solid currentColor",
  },
  ".cm-panels button, .cm-panels input": { fontFamily: "var(--font)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad) 1px",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning, .cm-lintRange-info": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--warn) 1px",
    textUnderlineOffset: "3px",
  },
  ".cm-pointed": {
    backgroundColor: "var(--accent-soft)",
    outline: "1px solid var(--accent)",
    borderRadius: "3px",
  },
  ".cm-covered": { backgroundColor: "var(--good-soft)" },
  ".cm-partly": { backgroundColor: "var(--warn-soft)" },
  ".cm-missed": { backgroundColor: "var(--bad-soft)" },
  ".cm-changedLine": { backgroundColor: "var(--good-soft) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft) !important" },
  ".cm-changedText": { background: "color-mix(in srgb, var(--good) 25%, transparent) !important" },
  ".cm-deletedText": { background: "color-mix(in srgb, var(--bad) 25%, transparent) !important" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--accent)" },
  { tag: tags.className, color: "var(--text)", fontWeight: "650" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--name)" },
  { tag: [tags.typeName, tags.atom, tags.bool], color: "var(--string)" },
  { tag: [tags.string, tags.number, tags.content], color: "var(--string)" },
  { tag: [tags.comment, tags.meta], color: "var(--muted)", fontStyle: "italic" },
]);

/** The look of editors, by the values of the style sheet. */
export const editorLook: Extension = [look, syntaxHighlighting(colours)];
