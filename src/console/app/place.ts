import { Cell } from "./cell.ts";
import { parsePlace, type Place, placeText, type View } from "./place-text.ts";

/** The place of the page. */
export const place = new Cell<Place>(parsePlace(location.hash));

addEventListener("hashchange", () => place.set(parsePlace(location.hash)));

/** By tenant and view: the state in which the view was left. */
const lastStates = new Map<string, Place["state"]>();

function stateKey({ tenant, view }: Pick<Place, "tenant" | "view">): string {
  return `${view} ${tenant}`;
}

function noteState(): void {
  lastStates.set(stateKey(place.value), place.value.state);
}

noteState();
place.follow(noteState);

/** The address of a view, in the state in which it was left. */
export function lastPlaceText(tenant: string, view: View): string {
  const state = lastStates.get(stateKey({ tenant, view })) ?? new Map<string, string>();
  return placeText({ tenant, view, state });
}

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
  // The page may not have been told yet that the address has changed.
  const address = parsePlace(location.hash);
  if (stateKey(address) !== stateKey(place.value)) return;
  const { tenant, view, state } = address;
  const next = { tenant, view, state: new Map([...state, ...Object.entries(changes)]) };
  if (placeText(next) === placeText(address)) return;
  history.replaceState(null, "", placeText(next));
  place.set(next);
}
