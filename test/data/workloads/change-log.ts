import type { Workload } from "../workload.ts";

/** What has changed: nothing is loaded, since only what is written through the store is in the log. */
export const changeLog: Workload = {
  name: "change_log",
  schema: "entity user {} entity document { relation viewer @user }",
  key: "",
  facts: () => [],
  classes: [],
  changes: [
    {
      name: "100 of 20,000 changes",
      entityType: "document",
      transactions: 500,
      changes: 40,
      pageSize: 100,
    },
  ],
};
