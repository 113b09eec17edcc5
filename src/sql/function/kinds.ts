import { mayKind, mayOfKind } from "./may.ts";
import type { FunctionKind } from "./plan-function.ts";
import { visibleKind, whoKind } from "./visible.ts";

/** The plan functions that each question gets. */
export const functionKinds: readonly FunctionKind[] = [mayKind, mayOfKind, visibleKind, whoKind];
