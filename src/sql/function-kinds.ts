import { mayKind, mayOfKind } from "./function/may.ts";
import type { FunctionKind } from "./function/plan-function.ts";
import { visibleKind, whoKind } from "./function/visible.ts";
import { fewKind, reachKind } from "./list/reach.ts";
import { scanKind } from "./list/scan.ts";

/** The plan functions that each question gets. */
export const functionKinds: readonly FunctionKind[] = [
  mayKind,
  mayOfKind,
  visibleKind,
  whoKind,
  reachKind,
  fewKind,
  scanKind,
];
