import { checksOf, subjectPermissionsOf } from "./ask-checks.ts";
import { lookupsOf } from "./ask-lookups.ts";
import { treesOf } from "./ask-trees.ts";
import { type Form, pinned } from "./trial.ts";

/** The forms of questions. */
export const forms: readonly Form[] = [
  {
    name: "checks",
    prepare: (one) => checksOf(one, one.rounds, ({ plain }) => plain),
  },
  {
    name: "checks of a former state",
    prepare: (one) => checksOf(one, pinned(one), ({ followed }) => followed),
  },
  { name: "permissions of a subject", prepare: subjectPermissionsOf },
  { name: "lookups", prepare: lookupsOf },
  { name: "trees", prepare: treesOf },
];
