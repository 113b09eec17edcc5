import { testRandomFootprints } from "./random-footprints.ts";

testRandomFootprints(600);
