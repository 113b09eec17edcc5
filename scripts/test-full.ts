import { endWith, runLongTests } from "./run-tests.ts";

/** What `npm test` leaves out. */
endWith(await runLongTests());
