import { testSchemaChanges } from "./schema-changes.ts";

testSchemaChanges({ writers: 4, callers: 4, writes: 5 });
