import { pagesOf } from "../client/pages.ts";
import type { Server } from "../client/send.ts";
import {
  answeredAttribute,
  answeredTuple,
  ReadAttributesAnswer,
  ReadTuplesAnswer,
} from "../data/fact-answers.ts";
import { attributeText, tupleText } from "../data/fact-text.ts";

export type ExportFormat = "ndjson" | "text";

/** Facts of a request: few enough for an answer of a moment. */
const pageSize = 2_000;

/** The lines of the tuples at a state, page by page. */
export async function* tupleLines(
  server: Server,
  snapToken: string,
  format: ExportFormat,
): AsyncGenerator<readonly string[]> {
  const request = { body: bodyOf(snapToken), answer: ReadTuplesAnswer };
  for await (const { tuples } of pagesOf(server, "data/relationships/read", request)) {
    yield tuples.map((tuple) =>
      format === "ndjson" ? JSON.stringify(tuple) : tupleText(answeredTuple(tuple)),
    );
  }
}

/** The lines of the attributes at a state, page by page. */
export async function* attributeLines(
  server: Server,
  snapToken: string,
  format: ExportFormat,
): AsyncGenerator<readonly string[]> {
  const request = { body: bodyOf(snapToken), answer: ReadAttributesAnswer };
  for await (const { attributes } of pagesOf(server, "data/attributes/read", request)) {
    yield attributes.map((attribute) =>
      format === "ndjson" ? JSON.stringify(attribute) : attributeText(answeredAttribute(attribute)),
    );
  }
}

function bodyOf(snapToken: string): object {
  return { metadata: { snap_token: snapToken }, filter: {}, page_size: pageSize };
}
