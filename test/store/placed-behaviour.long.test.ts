/** The behaviour of a store, with tenants on three databases. */
import { placeTenants } from "../support/placed-databases.ts";

placeTenants();
// As many cases as in short tests: which cluster is asked does not depend on what is drawn.
process.env["PEMBA_CASES"] ??= "50";

await import("./tenants.test.ts");
await import("./schemas.test.ts");
await import("./writes.test.ts");
await import("./reads.test.ts");
await import("./deletes.test.ts");
await import("./change-data.test.ts");
await import("./changes.test.ts");
await import("./garbage.test.ts");
await import("./random-life.test.ts");
await import("./garbage-random.test.ts");
