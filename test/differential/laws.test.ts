import { testRandomLaws } from "./random-laws.ts";

testRandomLaws(10);
