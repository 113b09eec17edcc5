import { writeData } from "../../api/data.ts";
import type { ReadFacts } from "../../worker/jobs.ts";

/** As many facts as a server takes in one write by default. */
const factsMax = 1_000;

/** Writes facts in as many requests as they need. If one fails, those before it are written. */
export async function writeFacts(
  tenant: string,
  { tuples, attributes }: Pick<ReadFacts, "tuples" | "attributes">,
): Promise<void> {
  for (let first = 0; first < tuples.length; first += factsMax) {
    await writeData(tenant, { tuples: tuples.slice(first, first + factsMax), attributes: [] });
  }
  for (let first = 0; first < attributes.length; first += factsMax) {
    await writeData(tenant, { tuples: [], attributes: attributes.slice(first, first + factsMax) });
  }
}
