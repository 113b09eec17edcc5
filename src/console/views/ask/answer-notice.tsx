import type { ComponentChildren, VNode } from "preact";

import { CopyButton } from "../../ui/copy-button.tsx";

/** The answer in a line, with how long it took and the state that it is of. */
export function AnswerNotice({
  isGood,
  title,
  milliseconds,
  snapToken,
  children,
}: {
  /** Undefined: neither good nor bad. */
  readonly isGood: boolean | undefined;
  readonly title: string;
  readonly milliseconds: number;
  readonly snapToken: string | undefined;
  readonly children: ComponentChildren;
}): VNode {
  const tone = isGood === undefined ? "" : isGood ? " good" : " bad";
  return (
    <div class={`answer${tone}`} role="status">
      <strong class="answer-title">{title}</strong>
      <span class="answer-text">{children}</span>
      <span class="answer-meta">
        {milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms there and back
        {snapToken !== undefined && <CopyButton text={snapToken} title="Copy the snap token" />}
      </span>
    </div>
  );
}
