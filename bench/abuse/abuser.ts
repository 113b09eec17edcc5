import { once } from "node:events";

import { abuses } from "./abuses.ts";

/*
 * One abuse as a process of its own, so that it does not hold up the neighbour's client: started with
 * its name, the two addresses and the tenant; ends when it is sent a message, after it has told what
 * became of its requests.
 */

const [name = "", url = "", grpc = "", tenant = ""] = process.argv.slice(2);
const abuse = abuses.find((each) => each.name === name);
if (abuse === undefined) throw new Error(`there is no abuse ${name}`);

const counts = new Map<string, number>();
const stop = new AbortController();
void once(process, "message").then(() => stop.abort());
await abuse.run(
  { url, grpc, tenant },
  (outcome) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1),
  stop.signal,
);
process.send?.(Object.fromEntries(counts), () => process.exit());
