/** The scopes that a credential can be limited to. Every operation belongs to one of them. */
export const scopes = ["check", "read", "write", "schema", "tenant", "watch"] as const;

export type Scope = (typeof scopes)[number];
