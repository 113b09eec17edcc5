import type { Admission } from "../../src/auth/admission.ts";

/** For what is not about who may ask, or how often. */
export const admitAll: Admission = async () => {};
