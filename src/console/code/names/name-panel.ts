import { StateEffect, StateField } from "@codemirror/state";
import { type EditorView, keymap, type Panel, showPanel } from "@codemirror/view";

import type { NamePlace } from "../../worker/named-texts.ts";

/** What is said below the text about a name. */
export type NameNotice =
  | { readonly kind: "message"; readonly text: string }
  | {
      readonly kind: "places";
      readonly title: string;
      readonly places: readonly NamePlace[];
      readonly onChoose: (place: NamePlace) => void;
    };

/** Shows a notice in place of the last one, or none. */
export const notify = StateEffect.define<NameNotice | undefined>();

const notices = StateField.define<NameNotice | undefined>({
  create: () => undefined,
  update(notice, { effects, docChanged }) {
    for (const effect of effects) if (effect.is(notify)) return effect.value;
    // The places are those of the text before.
    return docChanged ? undefined : notice;
  },
  provide: (field) =>
    showPanel.from(field, (notice) =>
      notice === undefined ? null : (view) => panelOf(view, notice),
    ),
});

/** Below the text: where a name stands, or why there is none. Escape closes it. */
export const namePanel = [
  notices,
  keymap.of([
    {
      key: "Escape",
      run: (view) => {
        if (view.state.field(notices) === undefined) return false;
        close(view);
        return true;
      },
    },
  ]),
];

function close(view: EditorView): void {
  view.dispatch({ effects: notify.of(undefined) });
  view.focus();
}

function panelOf(view: EditorView, notice: NameNotice): Panel {
  const dom = document.createElement("div");
  dom.className = "cm-names";
  if (notice.kind === "message") {
    dom.setAttribute("role", "status");
    dom.append(textIn("span", notice.text), closeButton(view));
    return { dom };
  }
  const head = document.createElement("div");
  head.className = "cm-names-head";
  head.append(textIn("strong", notice.title), closeButton(view));
  const buttons = notice.places.map((place) => placeButton(place, notice.onChoose));
  const list = document.createElement("div");
  list.className = "cm-names-list";
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", notice.title);
  list.append(...buttons);
  dom.append(head, list);
  dom.addEventListener("keydown", (event) => onKey(event, view, buttons));
  return { dom, mount: () => buttons[0]?.focus() };
}

const arrows: ReadonlyMap<string, number> = new Map([
  ["ArrowDown", 1],
  ["ArrowUp", -1],
]);

/** The arrow keys go through the places. */
function onKey(
  event: KeyboardEvent,
  view: EditorView,
  buttons: readonly HTMLButtonElement[],
): void {
  if (event.key === "Escape") {
    event.preventDefault();
    close(view);
    return;
  }
  const by = arrows.get(event.key);
  if (by === undefined) return;
  event.preventDefault();
  const current = buttons.findIndex((button) => button === event.target);
  buttons[(current + by + buttons.length) % buttons.length]?.focus();
}

function placeButton(place: NamePlace, onChoose: (place: NamePlace) => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  const where = place.of === "schema" ? "Model" : "Test file";
  button.append(textIn("span", `${where} ${place.line}`), textIn("code", place.text));
  button.addEventListener("click", () => onChoose(place));
  return button;
}

function closeButton(view: EditorView): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "cm-names-close";
  button.textContent = "Close";
  button.addEventListener("click", () => close(view));
  return button;
}

/** Texts of a user become text nodes and nothing else. */
function textIn(name: "span" | "strong" | "code", text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
