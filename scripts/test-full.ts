import { endWith, longTests, runTests } from "./run-tests.ts";

/** What `npm test` leaves out. */
endWith(await runTests(longTests));
