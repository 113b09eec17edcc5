import { type Admission, createAdmission } from "../../src/auth/admission.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { usualIntake } from "./usual-intake.ts";

/** For what is not about who may ask, or how often. */
export const admitAll: Admission = createAdmission({
  rateLimit: createRateLimit(1_000_000),
  intake: usualIntake(),
  authenticator: undefined,
});
