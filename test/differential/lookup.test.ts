import { testRandomLookups } from "./random-lookups.ts";

testRandomLookups(8);
