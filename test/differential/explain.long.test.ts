import { testRandomExplanations } from "./random-explanations.ts";

testRandomExplanations(300);
