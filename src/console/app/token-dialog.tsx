import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { Dialog } from "../ui/dialog.tsx";
import { useCell } from "./cell.ts";
import { keepToken, token } from "./session.ts";
import { isTokenDialogOpen } from "./token-dialog-state.ts";

/** Asks for the token that calls carry. */
export function TokenDialog(): VNode | null {
  const isOpen = useCell(isTokenDialogOpen);
  return isOpen ? <OpenTokenDialog /> : null;
}

function OpenTokenDialog(): VNode {
  const [text, setText] = useState(token.value);
  const close = (): void => isTokenDialogOpen.set(false);
  const use = (next: string): void => {
    keepToken(next);
    close();
  };
  return (
    <Dialog title="Token" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          use(text);
        }}
      >
        <p class="muted">
          Every call carries this token. It stays in this tab and is gone when the tab is closed.
        </p>
        <label class="field">
          <span class="label">Token</span>
          <input
            class="input mono"
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <div class="actions">
          <button type="button" class="button danger" onClick={() => use("")}>
            Forget it
          </button>
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button primary">
            Use this token
          </button>
        </div>
      </form>
    </Dialog>
  );
}
