import { PembaError } from "../../base/error.ts";
import { parseTextNotation } from "../../base/text-notation.ts";
import type { Attribute, Tuple } from "../../base/tuple.ts";
import { readModelFile } from "../../model-test/file/read-model-file.ts";
import { typeUrlOf } from "../../service/value-type.ts";
import { attributeJson } from "../../store/attribute-value.ts";
import type { AttributeAnswer } from "../api/data.ts";
import type { ReadFacts } from "./jobs.ts";

/** Further problems do not help. */
const problemsMax = 20;

/** Reads a fact a line, as `document:plan#viewer@user:ada`. Empty lines and `//` comments are skipped. */
export function readLines(text: string): ReadFacts {
  const tuples: Tuple[] = [];
  const attributes: AttributeAnswer[] = [];
  const problems: { readonly line: number; readonly message: string }[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.trimStart().startsWith("//")) continue;
    try {
      const element = parseTextNotation(line);
      if (element.kind === "tuple") tuples.push(element.tuple);
      else attributes.push(attributeAnswerOf(element.attribute));
    } catch (error) {
      if (!(error instanceof PembaError)) throw error;
      problems.push({ line: index + 1, message: error.plainMessage });
      if (problems.length === problemsMax) break;
    }
  }
  return { tuples, attributes, problems };
}

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

function attributeAnswerOf({ entity, attribute, value }: Attribute): AttributeAnswer {
  return {
    entity,
    attribute,
    value: { "@type": typeUrlOf(value.type), data: attributeJson(value) },
  };
}
