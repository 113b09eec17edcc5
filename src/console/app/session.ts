import { Cell } from "./cell.ts";

const tokenKey = "pemba.token";

/** The token that calls carry. It lives as long as the tab does. Empty: calls carry none. */
export const token = new Cell(sessionStorage.getItem(tokenKey) ?? "");

/** Keeps the token in the storage of the session, and nowhere else. */
export function keepToken(text: string): void {
  const trimmed = text.trim();
  if (trimmed === "") sessionStorage.removeItem(tokenKey);
  else sessionStorage.setItem(tokenKey, trimmed);
  token.set(trimmed);
}
