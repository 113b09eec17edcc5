import { closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
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

import { assistance } from "./assistance.ts";
import { diagnosticsOf, type PlacedFinding } from "./findings.ts";
import type { NameHost } from "./names/name-host.ts";
import { nameTools } from "./names/name-tools.ts";
import { revealIn } from "./reveal.ts";
import { schemaLanguage } from "./schema-language.ts";
import { shade, type ShadedPart, shading } from "./shading.ts";
import { editorLook } from "./theme.ts";
import { typeOver } from "./type-over.ts";

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
  /** What is brought into sight, each time that it is another object. */
  readonly reveal?: Revealed | undefined;
  /** The text beside it, with which it shares its names. */
  readonly names?: NameHost;
  readonly extensions?: Extension;
}

export interface Revealed {
  readonly offset: number;
  /** Whether the keys go to the editor then. */
  readonly takesFocus?: boolean;
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
  // Texts that were told of and may come back late, when more is written already.
  const told = useRef(new Set<string>());
  useEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const view = new EditorView({ root, parent: root, state: stateOf(latest, told.current) });
    editor.current = view;
    return () => view.destroy();
  }, [props.language, props.extensions]);
  useEffect(() => {
    const view = editor.current;
    if (view === undefined) return;
    if (told.current.has(props.text)) {
      if (view.state.doc.toString() === props.text) told.current.clear();
      return;
    }
    if (view.state.doc.toString() === props.text) return;
    // From now on, a text that comes back is meant.
    told.current.clear();
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: props.text },
      annotations: Transaction.remote.of(true),
    });
  }, [props.text]);
  useEffect(() => {
    const view = editor.current;
    if (view === undefined) return;
    view.dispatch(
      setDiagnostics(view.state, diagnosticsOf(props.findings ?? [], view.state.doc.length)),
    );
  }, [props.findings]);
  useEffect(() => {
    editor.current?.dispatch({ effects: shade.of(props.shaded ?? []) });
  }, [props.shaded]);
  useEffect(() => {
    const view = editor.current;
    const { reveal } = props;
    if (view === undefined || reveal === undefined) return;
    revealIn(view, { start: reveal.offset, end: reveal.offset });
    if (reveal.takesFocus === true) view.focus();
  }, [props.reveal]);
  return <div ref={place} class="editor" />;
}

function stateOf(latest: { readonly current: TextEditorProps }, told: Set<string>): EditorState {
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
      shading,
      typeOver,
      language === "schema" ? schemaLanguage : yaml(),
      assistance(() => latest.current.names),
      nameTools(() => latest.current.names),
      editorLook,
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
      onChange === undefined
        ? [EditorState.readOnly.of(true)]
        : [highlightActiveLine(), highlightActiveLineGutter(), lintGutter()],
      // Escape, then Tab, leaves the editor.
      keymap.of([
        ...completionKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...searchKeymap,
        ...lintKeymap,
        indentWithTab,
      ]),
      EditorView.updateListener.of(({ docChanged, selectionSet, state, transactions }) => {
        const isOwn = !transactions.some((one) => one.annotation(Transaction.remote) === true);
        if (docChanged && isOwn) {
          const text = state.doc.toString();
          told.add(text);
          latest.current.onChange?.(text);
        }
        if (docChanged || selectionSet) latest.current.onCursor?.(state.selection.main.head);
      }),
      extensions ?? [],
    ],
  });
}
