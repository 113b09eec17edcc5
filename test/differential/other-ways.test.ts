import { testOtherWays } from "./random-other-ways.ts";

testOtherWays(6);
