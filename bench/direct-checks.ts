import { must } from "../src/base/assert.ts";
import type { Dataset, Question } from "../test/data/dataset.ts";
import type { RestClient } from "./clients/rest.ts";

const elementsPerWrite = 1_000;

/** Does the user own the document? The tuple is there, and nothing else is read. */
export function directQuestions({ classes }: Dataset): readonly Question[] {
  const shallow = must(
    classes.find(({ name }) => name === "shallow"),
    "the class is there",
  );
  return shallow.questions.map((question) => ({ ...question, permission: "owner" }));
}

/** Writes the schema and the tuples of a data set through a server. */
export async function loadOver(client: RestClient, { schema, facts }: Dataset): Promise<void> {
  await client.post("schemas/write", { schema });
  const tuples = [...facts()].flatMap((fact) => (fact.kind === "tuple" ? [fact.tuple] : []));
  for (let from = 0; from < tuples.length; from += elementsPerWrite) {
    const part = tuples.slice(from, from + elementsPerWrite);
    await client.write(part);
  }
}
