import { isOptionKey, type OptionKey } from "../config/options.ts";

/** What starts Pemba chooses its addresses, on free ports, and one process. */
const fixedKeys = [
  "server.host",
  "server.http.port",
  "server.grpc.port",
  "server.workers",
] as const;

type FixedKey = (typeof fixedKeys)[number];

/** Keys of the configuration, with values as in a file, such as `15m` or `10MiB`. */
export type TestConfig = {
  readonly [Key in Exclude<OptionKey, FixedKey>]?: string | number | boolean | readonly string[];
};

/** A test asks as fast as it can. */
export const unlimited: TestConfig = { "server.rate_limit": 1_000_000_000 };

/** The values as text, by their keys. Fails if there is no such key, or a test cannot choose its value. */
export function textsOf(config: TestConfig): ReadonlyMap<OptionKey, string> {
  const texts = new Map<OptionKey, string>();
  for (const [key, value] of Object.entries(config)) {
    // A caller in JavaScript may pass anything. The server reports wrong values.
    if (!isOptionKey(key)) throw new TypeError(`\`${key}\` is not a key of the configuration`);
    if (fixedKeys.some((fixed) => fixed === key)) {
      throw new TypeError(`\`${key}\` cannot be chosen by a test`);
    }
    texts.set(key, String(value));
  }
  return texts;
}
