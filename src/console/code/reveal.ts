import type { EditorView } from "@codemirror/view";

/** Puts the cursor at a place and scrolls the editor alone. The effect of the library scrolls the page as well. */
export function revealIn(
  view: EditorView,
  { start, end }: { readonly start: number; readonly end: number },
): void {
  const { length } = view.state.doc;
  const anchor = Math.min(start, length);
  if (!view.state.readOnly) {
    view.dispatch({ selection: { anchor, head: Math.min(end, length) } });
  }
  view.requestMeasure({
    read: () => view.lineBlockAt(anchor).top - view.scrollDOM.clientHeight / 3,
    write: (top) => view.scrollDOM.scrollTo({ top: Math.max(0, top) }),
  });
}
