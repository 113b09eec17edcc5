import { EditorView } from "@codemirror/view";

/** They are put around a selection. */
const brackets = /^[([{"']$/;

/**
 * Puts what is typed in the place of what is selected. The browser would do it itself, and would keep the look
 * of what was there by an inline style, which the policy of the page refuses with an error.
 */
export const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType } = event;
    const isText = inputType === "insertText" && data !== null && !brackets.test(data);
    if (!isText || view.composing || view.state.readOnly) return false;
    if (view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(data), {
      userEvent: "input.type",
      scrollIntoView: true,
    });
    return true;
  },
});
