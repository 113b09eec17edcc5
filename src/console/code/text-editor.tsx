import { autocompletion, closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, Transaction } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { schemaLanguage } from "./schema-language.ts";
import { shade, type ShadedPart, shading } from "./shading.ts";
import { editorLook } from "./theme.ts";

/** A message at a place of the text. Lines and columns count from 1. */
export interface PlacedFinding {
  readonly severity: "error" | "warning" | "info";
  readonly line: number;
  readonly column: number;
  /** Undefined: to the end of the word. */
  readonly endColumn: number | undefined;
  readonly message: string;
}

export interface TextEditorProps {
  readonly label: string;
  readonly language: "schema" | "yaml";
  readonly text: string;
  /** Undefined: the text cannot be changed. */
  readonly onChange?: (text: string) => void;
  /** Called with the offset of the cursor when it moves. */
  readonly onCursor?: (offset: number) => void;
  readonly findings?: readonly PlacedFinding[];
  readonly shaded?: readonly ShadedPart[];
  /** An offset that is brought into sight when it changes. */
  readonly reveal?: number | undefined;
  readonly extensions?: Extension;
}

/**
 * An editor. It stands in a shadow tree, where its styles come from sheets that scripts make: the policy of
 * the page allows no inline ones.
 */
export function TextEditor(props: TextEditorProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const view = new EditorView({ root, parent: root, state: stateOf(latest) });
    editor.current = view;
    return () => view.destroy();
  }, [props.language, props.extensions]);
  useEffect(() => {
    const view = editor.current;
    if (view === undefined || view.state.doc.toString() === props.text) return;
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: props.text },
      annotations: Transaction.remote.of(true),
    });
  }, [props.text]);
  useEffect(() => {
    const view = editor.current;
    if (view === undefined) return;
    view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, props.findings ?? [])));
  }, [props.findings]);
  useEffect(() => {
    editor.current?.dispatch({ effects: shade.of(props.shaded ?? []) });
  }, [props.shaded, props.text]);
  useEffect(() => {
    const view = editor.current;
    const { reveal } = props;
    if (view === undefined || reveal === undefined || reveal > view.state.doc.length) return;
    view.dispatch({ effects: EditorView.scrollIntoView(reveal, { y: "center" }) });
  }, [props.reveal]);
  return <div ref={place} class="editor" />;
}

function stateOf(latest: { readonly current: TextEditorProps }): EditorState {
  const { text, label, language, onChange, extensions } = latest.current;
  return EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      highlightSelectionMatches(),
      indentUnit.of("  "),
      autocompletion(),
      shading,
      language === "schema" ? schemaLanguage : yaml(),
      editorLook,
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
      onChange === undefined
        ? [EditorState.readOnly.of(true)]
        : [highlightActiveLine(), highlightActiveLineGutter(), lintGutter()],
      // Escape, then Tab, leaves the editor.
      keymap.of([
        ...defaultKeymap,
        ...historyKeymap,
        ...searchKeymap,
        ...lintKeymap,
        indentWithTab,
      ]),
      EditorView.updateListener.of(({ docChanged, selectionSet, state, transactions }) => {
        const isOwn = !transactions.some((one) => one.annotation(Transaction.remote) === true);
        if (docChanged && isOwn) latest.current.onChange?.(state.doc.toString());
        if (docChanged || selectionSet) latest.current.onCursor?.(state.selection.main.head);
      }),
      extensions ?? [],
    ],
  });
}

/** Places that an edit has moved out of the text are put at its end. */
function diagnosticsOf(
  state: EditorState,
  findings: readonly PlacedFinding[],
): readonly Diagnostic[] {
  return findings.map(({ severity, line, column, endColumn, message }) => {
    const { from, to, text } = state.doc.line(Math.min(Math.max(1, line), state.doc.lines));
    const start = Math.min(from + column - 1, to);
    const word = /^\w+/.exec(text.slice(start - from))?.[0].length ?? 1;
    const end = endColumn === undefined ? start + word : from + endColumn - 1;
    return { from: start, to: Math.min(Math.max(start, end), to), severity, message };
  });
}
