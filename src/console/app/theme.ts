import { Cell } from "./cell.ts";

export const themes = ["auto", "light", "dark"] as const;

export type Theme = (typeof themes)[number];

const key = "pemba.theme";

/** The colours that the user chose. `auto` follows the system. */
export const theme = new Cell<Theme>(
  themes.find((name) => name === localStorage.getItem(key)) ?? "auto",
);

export function chooseTheme(name: Theme): void {
  localStorage.setItem(key, name);
  theme.set(name);
  applyTheme();
}

/** The style sheet reads the attribute. */
export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.value;
}
