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
  ".cm-tooltip": { borderRadius: "var(--radius)", boxShadow: "var(--shadow)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    color: "var(--on-accent)",
    backgroundColor: "var(--accent)",
  },
  ".cm-cards": { padding: "var(--space-2) var(--space-3)", maxWidth: "min(520px, 78vw)" },
  ".cm-cards code": { display: "block", fontFamily: "var(--mono)", overflowWrap: "anywhere" },
  ".cm-cards p": { margin: "var(--space-1) 0 0", color: "var(--muted)", fontFamily: "var(--font)" },
  ".cm-rename": {
    display: "grid",
    gridTemplateColumns: "minmax(0, 1fr) auto",
    gap: "var(--space-2)",
    width: "min(340px, 90vw)",
    padding: "var(--space-3)",
    fontFamily: "var(--font)",
  },
  ".cm-rename input": {
    minWidth: "0",
    minHeight: "32px",
    padding: "0 var(--space-2)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    color: "inherit",
    backgroundColor: "var(--surface)",
    fontFamily: "var(--mono)",
    fontSize: "var(--text-s)",
  },
  ".cm-rename input[aria-invalid]": { borderColor: "var(--bad)" },
  ".cm-rename p": {
    gridColumn: "1 / -1",
    margin: "0",
    color: "var(--muted)",
    fontSize: "var(--text-xs)",
    overflowWrap: "anywhere",
  },
  ".cm-rename p.cm-rename-reason": { color: "var(--bad)" },
  ".cm-rename button, .cm-names-close": {
    minHeight: "32px",
    padding: "0 var(--space-3)",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius)",
    color: "inherit",
    backgroundColor: "var(--surface)",
    fontWeight: "500",
    cursor: "pointer",
  },
  ".cm-rename button": {
    borderColor: "var(--accent)",
    color: "var(--on-accent)",
    backgroundColor: "var(--accent)",
  },
  ".cm-rename :focus-visible, .cm-names :focus-visible": {
    outline: "2px solid var(--accent)",
    outlineOffset: "-2px",
  },
  ".cm-names, .cm-names-head": {
    display: "flex",
    flexWrap: "wrap",
    alignItems: "center",
    justifyContent: "space-between",
    gap: "var(--space-2)",
    fontFamily: "var(--font)",
  },
  ".cm-names": { padding: "var(--space-2) var(--space-3)" },
  ".cm-names-head": { flex: "1 1 100%" },
  ".cm-names-list": { flex: "1 1 100%", maxHeight: "180px", overflow: "auto" },
  ".cm-names-list button": {
    display: "flex",
    gap: "var(--space-3)",
    width: "100%",
    minHeight: "28px",
    padding: "var(--space-1) var(--space-2)",
    border: "0",
    borderRadius: "var(--radius)",
    color: "inherit",
    backgroundColor: "transparent",
    fontSize: "var(--text-s)",
    textAlign: "start",
    cursor: "pointer",
  },
  ".cm-names-list button:hover, .cm-names-list button:focus": {
    backgroundColor: "var(--sunken)",
  },
  ".cm-names-list span": { flex: "0 0 96px", color: "var(--muted)" },
  ".cm-names-list code": {
    minWidth: "0",
    fontFamily: "var(--mono)",
    overflow: "hidden",
    textOverflow: "ellipsis",
    whiteSpace: "nowrap",
  },
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
  ".cm-collapsedLines": {
    color: "var(--muted) !important",
    background: "var(--sunken) !important",
  },
  ".cm-collapsedLines::before, .cm-collapsedLines::after": { content: '"…" !important' },
  ".cm-changedLine": { backgroundColor: "var(--good-soft) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft) !important" },
  // A second ground would leave the letters too little contrast.
  ".cm-changedText": {
    background: "none !important",
    borderBottom: "2px solid var(--good)",
  },
  ".cm-deletedText": {
    background: "none !important",
    borderBottom: "2px solid var(--bad)",
  },
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
