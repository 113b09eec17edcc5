import type { VNode } from "preact";

/** The drawings of 16 by 16, as paths of strokes. */
const paths = {
  model: "M3 3h4v3H3zM9 10h4v3H9zM5 6v5.5h4",
  data: "M2.5 4h11M2.5 8h11M2.5 12h11",
  ask: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.7 8 9.2 8 10M8 12.6v.1",
  test: "M3 8.5 6.5 12 13 4.5",
  watch:
    "M1.8 8S4 4 8 4s6.2 4 6.2 4S12 12 8 12 1.8 8 1.8 8ZM8 9.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2",
  tenants: "M2.5 13V6l5.5-3.5L13.5 6v7M6 13V9h4v4",
  key: "M5.2 10.5a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4M7.9 7.8H14M11.4 7.8v2.4M13.6 7.8v1.8",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
} as const;

export type IconName = keyof typeof paths;

/** A drawing beside a word, which says the same. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}

/** The mark of Pemba: three things that are related. */
export function Mark(): VNode {
  return (
    <svg width="22" height="22" viewBox="0 0 22 22" fill="currentColor" aria-hidden="true">
      <path d="M6 6.5h10L11 16z" fill="none" stroke="currentColor" stroke-width="1.8" />
      <circle cx="5" cy="6" r="3" />
      <circle cx="17" cy="6" r="3" />
      <circle cx="11" cy="17" r="3" />
    </svg>
  );
}
