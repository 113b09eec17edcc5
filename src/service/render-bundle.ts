import { type ErrorCode, fieldError, PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { parseTextNotation, type TextElement } from "../base/text-notation.ts";
import type { Attribute, Tuple } from "../base/tuple.ts";
import { type Bundle, type BundleOperation, type DataOperation, named } from "../store/bundle.ts";
import { lengthInJson, renderedLength, renderTemplate } from "./bundle-template.ts";
import { invalidField } from "./field.ts";
import { parseAttribute, parseTuple } from "./request-data.ts";

/** Of JSON, as many as the body of a write may bring. */
const charactersMax = 4 * 1024 * 1024;

/** As many values as the body of a write may bring by default. */
const listElementsMax = 50_000;

const tooMuch: ErrorCode = "MAX_DATA_PER_WRITE_EXCEEDED";

const lists: readonly (readonly [keyof BundleOperation, string])[] = [
  ["relationshipsWrite", "relationships_write"],
  ["attributesWrite", "attributes_write"],
  ["relationshipsDelete", "relationships_delete"],
  ["attributesDelete", "attributes_delete"],
];

/**
 * The operations of a bundle with the arguments in its templates. An argument may stand in very many places: how
 * much they all come to is counted before any of it is made. Errors name the bundle.
 */
export function* renderBundle(
  bundle: Bundle,
  values: ReadonlyMap<string, string>,
  maxData: number,
): Steps<readonly DataOperation[]> {
  try {
    refuseOversize(bundle, maxData);
    yield* refuseLongText(bundle, values);
    const rendering = new Rendering(values);
    const operations: DataOperation[] = [];
    for (const [index, operation] of bundle.operations.entries()) {
      operations.push(yield* rendering.operation(operation, `operations[${index}]`));
    }
    return operations;
  } catch (error) {
    throw named(bundle.name, error);
  }
}

/** Every template is one tuple or attribute, so the size of a run is known before. */
function refuseOversize({ operations }: Bundle, max: number): void {
  const total = operations.flatMap((operation) => Object.values(operation).flat()).length;
  if (total <= max) return;
  throw fieldError(
    tooMuch,
    "operations",
    `${total} tuples and attributes in one run, expected at most ${max} (\`database.max_data_per_write\`)`,
  );
}

function* refuseLongText(bundle: Bundle, values: ReadonlyMap<string, string>): Steps<void> {
  const pace = new Pace();
  const lengths = new Map<string, number>();
  for (const [name, value] of values) {
    lengths.set(name, lengthInJson(value));
    if (pace.step()) yield;
  }
  let total = 0;
  for (const { template, field } of templatesOf(bundle)) {
    total += yield* renderedLength(template, lengths, pace);
    if (pace.step()) yield;
    if (total <= charactersMax) continue;
    throw fieldError(
      tooMuch,
      field,
      `with their arguments, this template and those before it come to ${total} characters of JSON, expected at most ${charactersMax} in one run`,
    );
  }
}

function* templatesOf({ operations }: Bundle): Iterable<{ template: string; field: string }> {
  for (const [index, operation] of operations.entries()) {
    for (const [key, list] of lists) {
      for (const [item, template] of operation[key].entries()) {
        yield { template, field: `operations[${index}].${list}[${item}]` };
      }
    }
  }
}

/** What a template came to, and which one it is. */
interface RenderedPlace {
  readonly text: string;
  readonly field: string;
}

/** Makes the operations of one run. */
class Rendering {
  readonly #values: ReadonlyMap<string, string>;
  readonly #pace = new Pace();
  #listElementsLeft = listElementsMax;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  *operation(operation: BundleOperation, field: string): Steps<DataOperation> {
    const { relationshipsWrite, attributesWrite, relationshipsDelete, attributesDelete } =
      operation;
    return {
      tuples: yield* this.#each(relationshipsWrite, `${field}.relationships_write`, tupleOf),
      attributes: yield* this.#each(attributesWrite, `${field}.attributes_write`, attributeOf),
      deletedTuples: yield* this.#each(
        relationshipsDelete,
        `${field}.relationships_delete`,
        tupleOf,
      ),
      deletedAttributes: yield* this.#each(
        attributesDelete,
        `${field}.attributes_delete`,
        attributeOf,
      ),
    };
  }

  *#each<T>(
    templates: readonly string[],
    list: string,
    take: (element: TextElement, place: RenderedPlace) => T,
  ): Steps<readonly T[]> {
    const taken: T[] = [];
    for (const [index, template] of templates.entries()) {
      const text = yield* renderTemplate(template, this.#values, this.#pace);
      const field = `${list}[${index}]`;
      taken.push(take(this.#read(text, field), { text, field }));
      // Each may be long.
      yield;
    }
    return taken;
  }

  #read(text: string, field: string): TextElement {
    try {
      const element = parseTextNotation(text, this.#listElementsLeft);
      if (element.kind === "attribute") {
        const { data } = element.attribute.value;
        if (typeof data === "object") this.#listElementsLeft -= data.length;
      }
      return element;
    } catch (error) {
      if (!(error instanceof PembaError)) throw error;
      const limit =
        error.code === tooMuch ? `, expected at most ${listElementsMax} in all lists of a run` : "";
      throw fieldError(error.code, field, `${error.plainMessage}${limit}`);
    }
  }
}

function tupleOf(element: TextElement, { text, field }: RenderedPlace): Tuple {
  if (element.kind === "tuple") return parseTuple(element.tuple, field);
  throw invalidField(
    field,
    `${quote(text)} is an attribute, expected a tuple such as \`doc:1#viewer@user:2\``,
  );
}

function attributeOf(element: TextElement, { text, field }: RenderedPlace): Attribute {
  if (element.kind === "attribute") return parseAttribute(element.attribute, field);
  throw invalidField(
    field,
    `${quote(text)} is a tuple, expected an attribute such as \`doc:1$public|boolean:true\``,
  );
}
