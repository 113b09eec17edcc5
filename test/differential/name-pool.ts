/** Few names, so that types share them and a mix-up of types gives wrong answers. */
export const entityNames = ["user", "group", "folder", "doc"] as const;
export const relationNames = ["member", "parent", "viewer", "owner", "banned"] as const;
export const permissionNames = ["view", "edit", "own", "list"] as const;
