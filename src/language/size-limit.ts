import type { Position } from "./position.ts";
import type { MemberNode } from "./tree.ts";

/**
 * The most names, types of relations, operators and places of walks of a schema. An answer looks at all names that
 * lead to it, at every entity on the way: of more it would not come to an end in time.
 */
export const schemaSizeMax = 50_000;

/** The member that makes a schema too large. */
export interface CountedMember {
  readonly kind: MemberNode["kind"];
  readonly entity: string;
  readonly name: string;
  readonly position: Position;
}

/** What is said of a schema that is too large to be evaluated. */
export function tooLarge(member: CountedMember | undefined): string {
  const place =
    member === undefined ? "" : `with ${member.kind} \`${member.entity}#${member.name}\` `;
  return `schema too large: ${place}it has more than ${schemaSizeMax} names, relation types, operators and places of walks`;
}
