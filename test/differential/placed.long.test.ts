/** Random schemas, data and questions, with tenants on two databases. */
import { placeTenants } from "../support/placed-databases.ts";

placeTenants();
// Which cluster is asked does not depend on what is drawn.
process.env["PEMBA_CASES"] ??= "50";

await import("./check.test.ts");
await import("./lookup.test.ts");
await import("./forms.test.ts");
