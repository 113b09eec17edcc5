/**
 * Few names, so that types share them and a mix-up of types gives wrong answers. Some are names that every object of
 * JavaScript has.
 */
export const entityNames = ["user", "bot", "constructor", "group", "folder", "doc"] as const;
/** Types that stand in each other. */
export const nestedNames = ["group", "folder", "doc"] as const;
/** Types that mostly stand as subjects alone. A relation takes some of them and forbids the others. */
export const plainNames = ["user", "bot", "constructor"] as const;
/**
 * A name may be a relation of one type, a permission of another one and an attribute of a third, and become another
 * of these in the next version.
 */
export const relationNames = [
  "member",
  "parent",
  "viewer",
  "owner",
  "banned",
  "view",
  "open",
] as const;
export const permissionNames = [
  "view",
  "edit",
  "toString",
  "__proto__",
  "viewer",
  "member",
  "owner",
  "open",
  "level",
] as const;

/**
 * Shared by all types, so that an engine which confuses types gets found out; their order by bytes is
 * not that of words.
 */
export const idPool = ["1", "B", "a:b@c", "*", "4+5"] as const;
