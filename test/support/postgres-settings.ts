/** How a test server of our own is run. Durability costs time and buys a test nothing. */
export const serverSettings: readonly string[] = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "max_connections=200",
  "max_prepared_transactions=10",
];

/**
 * The default collation is not byte order, as on most servers in use: a statement that forgets
 * `collate "C"` where it needs it fails here and not there.
 */
export const clusterOptions: readonly string[] = [
  "--encoding=UTF8",
  "--locale=C",
  "--locale-provider=icu",
  "--icu-locale=en",
];
