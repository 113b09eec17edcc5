import { testRandomAnswers } from "./random-answers.ts";

testRandomAnswers(12);
