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
  key: "M9.5 6.5a2.5 2.5 0 1 0-2.3 2.5L6 10.2v1.3H4.7v1.3H3v-2l3.9-3.9",
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

/** The mark of Pemba: a clove, four petals around a bud. */
export function Mark(): VNode {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" fill="currentColor" aria-hidden="true">
      <circle cx="10" cy="6.6" r="3" />
      <path d="M10 2 12 5h-4zM4.6 6.6 8 5.2v2.8zM15.4 6.6 12 5.2v2.8z" opacity=".55" />
      <path d="M8.6 10.4h2.8L10.6 18h-1.2z" />
    </svg>
  );
}
