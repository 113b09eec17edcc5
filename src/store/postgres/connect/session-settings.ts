/**
 * The settings of every direct connection. The right plans of Pemba's statements are nested loops over
 * index scans, with any statistics, and a fresh table has none. So everything that a planner could
 * prefer instead is off. A statement is planned once and runs many times.
 */
export const sessionSettings: Readonly<Record<string, string>> = {
  plan_cache_mode: "force_generic_plan",
  jit: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_material: "off",
  enable_memoize: "off",
  // A snapshot is only right when every statement of a write takes its own.
  default_transaction_isolation: "read committed",
};
