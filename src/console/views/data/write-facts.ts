import { ApiError } from "../../api/api-error.ts";
import { writeData } from "../../api/data.ts";
import type { LineProblem, ReadFacts } from "../../worker/jobs.ts";
import { refusedLines } from "./refused-lines.ts";

/** As many facts as a server takes in one write by default. */
const factsMax = 1_000;

/**
 * Writes facts in as many requests as they need. Returns the lines of those that the server refuses. The
 * requests before are written then.
 */
export async function writeFacts(
  tenant: string,
  { tuples, attributes, lines }: Omit<ReadFacts, "problems">,
): Promise<readonly LineProblem[]> {
  for (let first = 0; first < tuples.length; first += factsMax) {
    const facts = { tuples: tuples.slice(first, first + factsMax), attributes: [] };
    const refused = await writeBatch(tenant, {
      ...facts,
      lines: { tuples: lines.tuples.slice(first), attributes: [] },
    });
    if (refused.length > 0) return refused;
  }
  for (let first = 0; first < attributes.length; first += factsMax) {
    const facts = { tuples: [], attributes: attributes.slice(first, first + factsMax) };
    const refused = await writeBatch(tenant, {
      ...facts,
      lines: { tuples: [], attributes: lines.attributes.slice(first) },
    });
    if (refused.length > 0) return refused;
  }
  return [];
}

/** Writes facts of one kind. Fails if the server refuses them for another reason than a fact. */
async function writeBatch(
  tenant: string,
  { lines, ...facts }: Omit<ReadFacts, "problems">,
): Promise<readonly LineProblem[]> {
  try {
    await writeData(tenant, facts);
    return [];
  } catch (error) {
    const refused = error instanceof ApiError ? refusedLines(error, lines) : [];
    if (refused.length === 0) throw error;
    return refused;
  }
}
