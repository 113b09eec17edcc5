import { Cell } from "./cell.ts";

/** Whether the dialog for the token is open. */
export const isTokenDialogOpen = new Cell(false);

export function openTokenDialog(): void {
  isTokenDialogOpen.set(true);
}
