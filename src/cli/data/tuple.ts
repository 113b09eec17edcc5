import { PembaError } from "../../base/error.ts";
import type { Tuple } from "../../base/tuple.ts";
import { askTenant } from "../client/ask.ts";
import { pagesOf } from "../client/pages.ts";
import type { Server } from "../client/send.ts";
import { answeredTuple, ReadTuplesAnswer, SnapTokenAnswer } from "./fact-answers.ts";
import { factCommand } from "./fact-command.ts";
import { tupleFilterOf } from "./fact-filter.ts";
import { parseTuple, tupleText } from "./fact-text.ts";

export const tuple = factCommand({
  name: "tuple",
  summary: "write, read and delete tuples",
  example: "document:1#viewer@user:ada",
  deletedExample: "document:1#viewer@user:ada",
  filterFlags: ["entity", "relation", "subject"],
  filterHelp: `  --entity      entities of a type, or one entity: document, document:1
  --relation    name of the relation
  --subject     subjects of a type, one subject, or usersets: user, user:ada, group#member`,

  async write(server, texts) {
    const body = { metadata: {}, tuples: texts.map(parseTuple), attributes: [] };
    return await askTenant(server, "data/write", { body, answer: SnapTokenAnswer });
  },

  read(server, values, metadata) {
    const body = { metadata, filter: tupleFilterOf(values) };
    return pagesOf(server, "data/relationships/read", { body, answer: ReadTuplesAnswer });
  },

  linesOf: ({ tuples }) => tuples.map((one) => tupleText(answeredTuple(one))),

  async remove(server, { text, values }) {
    const filter = text === undefined ? tupleFilterOf(values) : await exactFilter(server, text);
    const body = { tuple_filter: filter, attribute_filter: {} };
    return await askTenant(server, "data/delete", { body, answer: SnapTokenAnswer });
  },
});

/** A filter that fits the tuple alone. Fails if there is none. */
async function exactFilter(server: Server, text: string): Promise<object> {
  const { entity, relation, subject } = parseTuple(text);
  const filter = {
    entity: { type: entity.type, ids: [entity.id] },
    relation,
    subject: { type: subject.type, ids: [subject.id], relation: subject.relation },
  };
  // An empty relation of a filter fits every relation, so usersets of the same entity would go, too.
  if (subject.relation === "") await refuseUsersets(server, text, filter);
  return filter;
}

async function refuseUsersets(server: Server, text: string, filter: object): Promise<void> {
  const body = { metadata: {}, filter };
  const pages = pagesOf(server, "data/relationships/read", { body, answer: ReadTuplesAnswer });
  for await (const { tuples } of pages) {
    const other = tuples.map(answeredTuple).find((one: Tuple) => one.subject.relation !== "");
    if (other === undefined) continue;
    throw new PembaError(
      "INVALID_ARGUMENT",
      `\`${text}\` cannot be deleted alone, because \`${tupleText(other)}\` would go, too: delete that one first, and write it again`,
    );
  }
}
