import { StateEffect, StateField } from "@codemirror/state";
import { type EditorView, showTooltip, type Tooltip } from "@codemirror/view";

/** A name that is being renamed. */
export interface RenamedSpan {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Renames it. Resolves to why it cannot be, or to undefined if it is done. */
  readonly rename: (newName: string) => Promise<string | undefined>;
}

const open = StateEffect.define<RenamedSpan | undefined>();

const box = StateField.define<Tooltip | null>({
  create: () => null,
  update(tooltip, { effects, docChanged }) {
    for (const effect of effects) {
      if (effect.is(open)) return effect.value === undefined ? null : tooltipOf(effect.value);
    }
    // The name is no longer where it was.
    return docChanged ? null : tooltip;
  },
  provide: (field) => showTooltip.from(field),
});

/** A field below a name, for its new name. */
export const renameBox = box;

export function openRenameBox(view: EditorView, span: RenamedSpan): void {
  view.dispatch({ effects: open.of(span) });
}

function close(view: EditorView): void {
  view.dispatch({ effects: open.of(undefined) });
  view.focus();
}

function tooltipOf(span: RenamedSpan): Tooltip {
  return {
    pos: span.start,
    end: span.end,
    above: false,
    create: (view) => {
      const { dom, input } = formFor(view, span);
      return {
        dom,
        mount: () => {
          input.focus();
          input.select();
        },
      };
    },
  };
}

function formFor(
  view: EditorView,
  { text, rename }: RenamedSpan,
): { readonly dom: HTMLElement; readonly input: HTMLInputElement } {
  const dom = document.createElement("form");
  dom.className = "cm-rename";
  const input = document.createElement("input");
  input.value = text;
  input.spellcheck = false;
  input.autocomplete = "off";
  input.setAttribute("aria-label", `New name of ${text}`);
  input.setAttribute("aria-describedby", "rename-hint");
  const button = document.createElement("button");
  button.type = "submit";
  button.textContent = "Rename";
  const hint = document.createElement("p");
  hint.id = "rename-hint";
  hint.setAttribute("role", "status");
  hint.textContent = "Enter renames it everywhere, Escape closes.";
  dom.append(input, button, hint);
  const say = (reason: string): void => {
    hint.className = "cm-rename-reason";
    hint.textContent = `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`;
    input.setAttribute("aria-invalid", "true");
    input.focus();
  };
  dom.addEventListener("submit", (event) => {
    event.preventDefault();
    button.disabled = true;
    const newName = input.value.trim();
    (newName === text ? Promise.resolve(undefined) : rename(newName))
      .then((reason) => (reason === undefined ? close(view) : say(reason)))
      .catch((error: unknown) => say(error instanceof Error ? error.message : String(error)))
      .finally(() => (button.disabled = false));
  });
  dom.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    close(view);
  });
  return { dom, input };
}
