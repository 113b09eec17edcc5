export const views = ["model", "data", "ask", "test", "watch"] as const;

export type View = (typeof views)[number];

/** What the address says: a view of a tenant with its state, or the list of tenants. */
export interface Place {
  /** Empty for the list of tenants. */
  readonly tenant: string;
  readonly view: View;
  /** The state of the view. */
  readonly state: ReadonlyMap<string, string>;
}

/**
 * Reads the part of an address behind `#`. It is never sent to a server, so no log gets the ids in it.
 * What is not understood leads to the list of tenants.
 */
export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const [, tenant = "", view = ""] = path.split("/");
  return {
    tenant: decoded(tenant),
    view: views.find((name) => name === view) ?? "model",
    state: new Map(new URLSearchParams(query)),
  };
}

/** The address of a place. Empty values are left out. */
export function placeText({ tenant, view, state }: Place): string {
  if (tenant === "") return "#/";
  const query = new URLSearchParams([...state].filter(([, value]) => value !== ""));
  const path = `#/${encodeURIComponent(tenant)}/${view}`;
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
