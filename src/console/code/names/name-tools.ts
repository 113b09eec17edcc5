import type { Extension } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";

import { schemaWorker } from "../../worker/client.ts";
import type { AskedName, NamePlace, TextKind } from "../../worker/named-texts.ts";
import { revealIn } from "../reveal.ts";
import { askedAt, type FindHost, type NameHost } from "./name-host.ts";
import { namePanel, notify } from "./name-panel.ts";
import { openRenameBox, renameBox } from "./rename-box.ts";

/** The most places of a name that are listed. */
const listedMax = 500;

/**
 * Definition (F12, or a click with Ctrl or Command), references (Shift+F12) and rename (F2) of names, in the
 * editor and in the text beside it.
 */
export function nameTools(findHost: FindHost): Extension {
  const tool = (run: (view: EditorView, host: NameHost, offset: number) => Promise<void>) => {
    return (view: EditorView, offset = view.state.selection.main.head): boolean => {
      const host = findHost();
      if (host === undefined) return false;
      run(view, host, offset).catch((error: unknown) =>
        tell(view, error instanceof Error ? error.message : String(error)),
      );
      return true;
    };
  };
  const define = tool(goToDefinition);
  const listReferences = tool(showReferences);
  const rename = tool(
    async (view, host, offset) => await beginRename(view, host, offset, findHost),
  );
  return [
    namePanel,
    renameBox,
    keymap.of([
      { key: "F12", run: (view) => define(view), preventDefault: true },
      { key: "Shift-F12", run: (view) => listReferences(view), preventDefault: true },
      { key: "F2", run: (view) => !view.state.readOnly && rename(view), preventDefault: true },
    ]),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        if (event.button !== 0 || (!event.ctrlKey && !event.metaKey)) return false;
        const offset = view.posAtCoords({ x: event.clientX, y: event.clientY });
        return offset !== null && define(view, offset);
      },
    }),
  ];
}

async function goToDefinition(view: EditorView, host: NameHost, offset: number): Promise<void> {
  const asked = askedAt(view.state, host, offset);
  const places = await schemaWorker.ask("definitions", asked);
  const [first, second] = places;
  if (first === undefined) tell(view, "There is no name with a declaration here.");
  else if (second === undefined) show(view, host, first);
  else list(view, host, { title: `${places.length} declarations`, places });
}

async function showReferences(view: EditorView, host: NameHost, offset: number): Promise<void> {
  const places = await schemaWorker.ask("references", askedAt(view.state, host, offset));
  if (places.length === 0) {
    tell(view, "There is no name with a declaration here.");
    return;
  }
  const title = `Named at ${countText(places.length)}`;
  list(view, host, { title, places: places.slice(0, listedMax) });
}

async function beginRename(
  view: EditorView,
  host: NameHost,
  offset: number,
  findHost: FindHost,
): Promise<void> {
  const asked = askedAt(view.state, host, offset);
  const name = await schemaWorker.ask("renamable", asked);
  if (name.kind === "refused") {
    tell(view, `${name.reason.slice(0, 1).toUpperCase()}${name.reason.slice(1)}.`);
    return;
  }
  // What comes back may be of a text that has changed.
  if (name.end > view.state.doc.length) return;
  const { start, end, text } = name;
  const rename = async (newName: string): Promise<string | undefined> =>
    await applyRename(view, findHost, offset, newName);
  openRenameBox(view, { start, end, text, rename });
}

/** Resolves to why it cannot be renamed. */
async function applyRename(
  view: EditorView,
  findHost: FindHost,
  offset: number,
  newName: string,
): Promise<string | undefined> {
  const host = findHost();
  if (host === undefined) return "the text is closed";
  const asked = askedAt(view.state, host, offset);
  const renaming = await schemaWorker.ask("rename", { ...asked, newName });
  if (renaming.kind === "refused") return renaming.reason;
  const now = findHost();
  if (now === undefined || !isSame(asked, askedAt(view.state, now, offset))) {
    return "a text has changed in the meantime, try it again";
  }
  const { edits } = renaming;
  const own = edits[host.of];
  const others = edits[otherOf(host.of)];
  view.dispatch({
    changes: own.map(({ span, text }) => ({ from: span.start, to: span.end, insert: text })),
    userEvent: "rename",
  });
  if (others.length > 0) now.editOther(others);
  const beside = others.length === 0 ? "" : `, ${others.length} of them in the text beside it`;
  tell(view, `Renamed at ${countText(own.length + others.length)}${beside}.`);
  return undefined;
}

function otherOf(kind: TextKind): TextKind {
  return kind === "schema" ? "test" : "schema";
}

function isSame(one: AskedName, other: AskedName): boolean {
  return one.schema === other.schema && one.test === other.test;
}

function countText(count: number): string {
  return count === 1 ? "1 place" : `${count} places`;
}

function show(view: EditorView, host: NameHost, place: NamePlace): void {
  if (place.of !== host.of) {
    host.showOther(place);
    return;
  }
  revealIn(view, place);
  view.focus();
}

function list(
  view: EditorView,
  host: NameHost,
  { title, places }: { readonly title: string; readonly places: readonly NamePlace[] },
): void {
  const onChoose = (place: NamePlace): void => show(view, host, place);
  view.dispatch({ effects: notify.of({ kind: "places", title, places, onChoose }) });
}

function tell(view: EditorView, text: string): void {
  view.dispatch({ effects: notify.of({ kind: "message", text }) });
}
