import { readModelFile } from "../../model-test/file/read-model-file.ts";
import type { ReadFacts } from "./jobs.ts";
import { attributeAnswerOf, problemsMax } from "./read-facts.ts";

/** Reads the relationships and the attributes of a model test. */
export function readTestData(text: string): ReadFacts {
  const read = readModelFile(text, "test", { isStrict: false, minDepth: 0 });
  if (read.kind === "problems") {
    const problems = read.problems.map(({ place, message }) => ({ line: place.line, message }));
    const lines = { tuples: [], attributes: [] };
    return { tuples: [], attributes: [], lines, problems: problems.slice(0, problemsMax) };
  }
  const { tuples, attributes } = read.file;
  return {
    tuples: tuples.map(({ value }) => value),
    attributes: attributes.map(({ value }) => attributeAnswerOf(value)),
    lines: {
      tuples: tuples.map(({ place }) => place.line),
      attributes: attributes.map(({ place }) => place.line),
    },
    problems: [],
  };
}
