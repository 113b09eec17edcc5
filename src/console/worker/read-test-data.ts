import { readModelFile } from "../../model-test/file/read-model-file.ts";
import type { ReadFacts } from "./jobs.ts";
import { attributeAnswerOf, problemsMax } from "./read-facts.ts";

/** Reads the relationships and the attributes of a model test. */
export function readTestData(text: string): ReadFacts {
  const read = readModelFile(text, "test", { isStrict: false, minDepth: 0 });
  if (read.kind === "problems") {
    const problems = read.problems.map(({ place, message }) => ({ line: place.line, message }));
    return { tuples: [], attributes: [], problems: problems.slice(0, problemsMax) };
  }
  return {
    tuples: read.file.tuples.map(({ value }) => value),
    attributes: read.file.attributes.map(({ value }) => attributeAnswerOf(value)),
    problems: [],
  };
}
