import { Cell } from "./cell.ts";
import { parsePlace, type Place, placeText, type View } from "./place-text.ts";

/** The place of the page. */
export const place = new Cell<Place>(parsePlace(location.hash));

addEventListener("hashchange", () => place.set(parsePlace(location.hash)));

/** Goes to a view, with a step of its own in the history. */
export function goTo(
  tenant: string,
  view: View,
  state: Readonly<Record<string, string>> = {},
): void {
  location.hash = placeText({ tenant, view, state: new Map(Object.entries(state)) });
}

/** Changes the state of the view in the address, without a step in the history. */
export function keepState(changes: Readonly<Record<string, string>>): void {
  const { tenant, view, state } = place.value;
  const next = { tenant, view, state: new Map([...state, ...Object.entries(changes)]) };
  if (placeText(next) === placeText(place.value)) return;
  history.replaceState(null, "", placeText(next));
  place.set(next);
}
