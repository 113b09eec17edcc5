import { testSchemaChanges } from "./schema-changes.ts";

testSchemaChanges({ writers: 50, callers: 50, writes: 6 });
