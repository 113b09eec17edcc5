import { testRandomKept } from "./random-kept.ts";

testRandomKept(20);
