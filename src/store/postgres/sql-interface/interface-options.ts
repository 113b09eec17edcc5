import type { QuestionPattern } from "../../../config/question-pattern.ts";
import type { SubjectSource } from "../../../config/subject-source.ts";

/** How applications ask in their own SQL. */
export interface SqlInterfaceOptions {
  /** The database schema of the functions that they call. */
  readonly schema: string;
  /** Whether a schema write makes plan functions, or only uses those that a command made. */
  readonly sync: "write" | "command";
  /** Empty: every permission, for each type that is a direct subject. */
  readonly questions: readonly QuestionPattern[];
  /** The most hops of a path. */
  readonly depth: number;
  readonly subject: SubjectSource;
  /** With functions that take tenant and subject from settings. */
  readonly bound: boolean;
  /** The most ids of an array. */
  readonly visibleMax: number;
}
