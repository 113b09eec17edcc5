import { PembaError } from "../../base/error.ts";
import { parseTextNotation } from "../../base/text-notation.ts";
import { encodeAttribute, encodeTuple } from "../../http/shapes/data.ts";
import { fieldOf } from "../client/fields.ts";
import { messageOf } from "../output.ts";
import { readText } from "../schema-text.ts";

/**
 * Reads the `context` of a question from a JSON file: `tuples`, `attributes` and `data` as over REST,
 * where a tuple or an attribute may be text notation as well. The errors name the file.
 */
export function readContextFile(file: string): object {
  const context = parsedObject(file, readText(file, "--context"));
  return {
    ...context,
    ...elementsOf(file, context, "tuples"),
    ...elementsOf(file, context, "attributes"),
  };
}

function parsedObject(file: string, text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fault(file, `is not JSON: ${messageOf(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw fault(file, "is not a JSON object with `tuples`, `attributes` or `data`");
  }
  const unknown = Object.keys(value).find((key) => !["tuples", "attributes", "data"].includes(key));
  if (unknown === undefined) return value;
  throw fault(file, `\`${unknown}\` is none of \`tuples\`, \`attributes\` and \`data\``);
}

function elementsOf(file: string, context: object, list: "tuples" | "attributes"): object {
  const elements = fieldOf(context, list);
  if (!Array.isArray(elements)) return {};
  return {
    [list]: elements.map((element: unknown, index) => {
      if (typeof element !== "string") return element;
      try {
        return encodedElement(element, list);
      } catch (error) {
        throw fault(file, `${list}[${index}]: ${messageOf(error)}`);
      }
    }),
  };
}

function encodedElement(text: string, list: "tuples" | "attributes"): object {
  const element = parseTextNotation(text);
  if (element.kind === "tuple" && list === "tuples") return encodeTuple(element.tuple);
  if (element.kind === "attribute" && list === "attributes") {
    return encodeAttribute(element.attribute);
  }
  throw new PembaError("INVALID_ARGUMENT", `\`${text}\` belongs to the other list`);
}

function fault(file: string, problem: string): PembaError {
  return new PembaError("INVALID_ARGUMENT", `--context: \`${file}\` ${problem}`);
}
