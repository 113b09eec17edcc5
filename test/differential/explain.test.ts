import { testRandomExplanations } from "./random-explanations.ts";

/* What an explanation says, held against the schema and the facts. PEMBA_SEED repeats a run. */
testRandomExplanations(12);
