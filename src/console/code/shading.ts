import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";

/** A part of the text that is shaded. Offsets, `end` exclusive. */
export interface ShadedPart {
  readonly start: number;
  readonly end: number;
  readonly tone: "pointed" | "covered" | "partly" | "missed";
  /** Shown when the pointer rests on it, and read aloud. */
  readonly title: string;
}

/** Replaces what is shaded. */
export const shade = StateEffect.define<readonly ShadedPart[]>();

/** The shaded parts of an editor, which move with the text. */
export const shading = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(decorations, transaction) {
    const effect = transaction.effects.find((one) => one.is(shade));
    if (effect === undefined || !effect.is(shade)) return decorations.map(transaction.changes);
    const { length } = transaction.state.doc;
    const ranges = effect.value
      .filter(({ start, end }) => start < end && end <= length)
      .map(({ start, end, tone, title }) =>
        Decoration.mark({ class: `cm-${tone}`, attributes: { title } }).range(start, end),
      );
    return Decoration.set(ranges, true);
  },
  provide: (field) => EditorView.decorations.from(field),
});
