import { encodeAttribute } from "../../http/shapes/data.ts";
import { askTenant } from "../client/ask.ts";
import { pagesOf } from "../client/pages.ts";
import { answeredAttribute, ReadAttributesAnswer, SnapTokenAnswer } from "./fact-answers.ts";
import { factCommand } from "./fact-command.ts";
import { attributeFilterOf } from "./fact-filter.ts";
import { attributeText, parseAttribute, parseAttributeName } from "./fact-text.ts";

export const attribute = factCommand({
  name: "attribute",
  summary: "write, read and delete attributes",
  example: "'document:1$public|boolean:true'",
  deletedExample: "'document:1$public'",
  filterFlags: ["entity", "attribute"],
  filterHelp: `  --entity      entities of a type, or one entity: document, document:1
  --attribute   name of the attribute`,

  async write(server, texts) {
    const attributes = texts.map((text) => encodeAttribute(parseAttribute(text)));
    const body = { metadata: {}, tuples: [], attributes };
    return await askTenant(server, "data/write", { body, answer: SnapTokenAnswer });
  },

  read(server, values, metadata) {
    const body = { metadata, filter: attributeFilterOf(values) };
    return pagesOf(server, "data/attributes/read", { body, answer: ReadAttributesAnswer });
  },

  linesOf: ({ attributes }) => attributes.map((one) => attributeText(answeredAttribute(one))),

  async remove(server, { text, values }) {
    const filter = text === undefined ? attributeFilterOf(values) : nameFilter(text);
    const body = { tuple_filter: {}, attribute_filter: filter };
    return await askTenant(server, "data/delete", { body, answer: SnapTokenAnswer });
  },
});

/** The value does not matter for a delete. */
function nameFilter(text: string): object {
  const { entity, attribute: name } = parseAttributeName(text);
  return { entity: { type: entity.type, ids: [entity.id] }, attributes: [name] };
}
