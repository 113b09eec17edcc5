import { PembaError } from "../../base/error.ts";
import { parseTextNotation } from "../../base/text-notation.ts";
import type { Attribute, Tuple } from "../../base/tuple.ts";
import { typeUrlOf } from "../../service/value-type.ts";
import { attributeJson } from "../../store/attribute-value.ts";
import type { AttributeAnswer } from "../api/data.ts";
import type { LineProblem, ReadFacts } from "./jobs.ts";

/** Further problems do not help. */
export const problemsMax = 20;

/** Reads a fact a line, as `document:plan#viewer@user:ada`. Empty lines and `//` comments are skipped. */
export function readLines(text: string): ReadFacts {
  const tuples: Tuple[] = [];
  const attributes: AttributeAnswer[] = [];
  const lines: { tuples: number[]; attributes: number[] } = { tuples: [], attributes: [] };
  const problems: LineProblem[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.trimStart().startsWith("//")) continue;
    try {
      const element = parseTextNotation(line);
      if (element.kind === "tuple") {
        tuples.push(element.tuple);
        lines.tuples.push(index + 1);
      } else {
        attributes.push(attributeAnswerOf(element.attribute));
        lines.attributes.push(index + 1);
      }
    } catch (error) {
      if (!(error instanceof PembaError)) throw error;
      problems.push({ line: index + 1, message: error.plainMessage });
      if (problems.length === problemsMax) break;
    }
  }
  return { tuples, attributes, lines, problems };
}

/** An attribute as it is sent. */
export function attributeAnswerOf({ entity, attribute, value }: Attribute): AttributeAnswer {
  return {
    entity,
    attribute,
    value: { "@type": typeUrlOf(value.type), data: attributeJson(value) },
  };
}
