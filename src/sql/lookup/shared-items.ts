import type { SearchPlan } from "../../plan/plan.ts";
import type { StatementScope } from "../state/source.ts";
import type { Fragment } from "../text/fragment.ts";

/** Items that are answered together, as parts of a query. */
export interface SharedItems {
  readonly scope: StatementScope;
  readonly plan: SearchPlan;
  /** The id of the subject, or the entity, of all of them. */
  readonly common: Fragment;
  /** A query of the other id of each, and its number: columns (id, item). */
  readonly items: Fragment;
  /** The most rows that a search for all of them may have. */
  readonly rowsMax: Fragment;
}

/** Verdicts by a search for all items. */
export interface SharedAnswers {
  readonly tables: Fragment;
  /** A condition: the search has no more rows than it may have. */
  readonly isWhole: Fragment;
  /** A query of the columns (item, v, n). */
  readonly answers: Fragment;
}
