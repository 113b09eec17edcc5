import { testRandomCrowds } from "./random-crowds.ts";

testRandomCrowds(5);
