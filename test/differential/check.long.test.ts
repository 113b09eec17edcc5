import { testRandomChecks } from "./random-checks.ts";

testRandomChecks(300);
