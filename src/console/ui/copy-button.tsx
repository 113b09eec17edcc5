import type { VNode } from "preact";
import { useState } from "preact/hooks";

/** Puts a text into the clipboard, and says so. */
export function CopyButton({
  text,
  title,
}: {
  readonly text: string;
  readonly title: string;
}): VNode {
  const [state, setState] = useState<"idle" | "copied" | "refused">("idle");
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setState("copied"),
      () => setState("refused"),
    );
  };
  const shown = { idle: title, copied: "Copied", refused: "The browser refuses to copy" }[state];
  return (
    <button type="button" class="button small plain" onClick={copy} onBlur={() => setState("idle")}>
      {shown}
    </button>
  );
}
