/** What clients see does not differ when tenants are on three databases, which get them by weight. */
import "./agreement.test.ts";
