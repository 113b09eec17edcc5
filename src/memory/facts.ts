import type { AttributeValue } from "../base/tuple.ts";

/**
 * Facts give so many subjects as an array, which can be read without a pause: that takes far less than a time
 * slice.
 */
export const fewSubjects = 64;

/**
 * One state of one tenant's data, as the interpreter reads it. The memory engine gives it from its
 * indexes at a snapshot; the Postgres engine gives it from the rows that a gather statement read.
 * Context of a request is already merged in: contextual tuples add, contextual attributes override.
 */
export interface Facts {
  /** Is there a tuple of one of the relations of the entity to exactly this subject? */
  hasTuple(
    entity: { readonly type: string; readonly id: string },
    relations: readonly string[],
    subject: { readonly type: string; readonly id: string; readonly relation: string },
  ): boolean;
  /**
   * Ids of the subjects of that type under one of the relations of the entity, without repeats
   * within a relation. If `subjectRelation` is undefined, any relation of the subject fits.
   */
  subjectIds(
    entity: { readonly type: string; readonly id: string },
    relations: readonly string[],
    subjectType: string,
    subjectRelation: string | undefined,
  ): Iterable<string>;
  /** The subjects of that type in the relation of the entity, each with its relation. */
  subjects(
    entity: { readonly type: string; readonly id: string },
    relation: string,
    subjectType: string,
  ): Iterable<{ readonly id: string; readonly relation: string }>;
  /** The value of the attribute, or undefined if there is none. */
  attribute(
    entity: { readonly type: string; readonly id: string },
    name: string,
  ): AttributeValue | undefined;
}
