import { fieldError, PembaError } from "../base/error.ts";
import { quote, shorten } from "../base/quote.ts";
import { parseTextNotation, type TextElement } from "../base/text-notation.ts";
import type { SnapToken } from "../base/tuple.ts";
import { type Bundle, type BundleOperation, type DataOperation, naming } from "../store/bundle.ts";
import { renderTemplate } from "./bundle-template.ts";
import {
  type Absent,
  invalidField,
  parseBundleName,
  parseTenantId,
  parseText,
  requireObject,
} from "./field.ts";
import { parseAttribute, parseTuple } from "./request-data.ts";
import type { Service } from "./service.ts";

export interface RunBundleRequest {
  readonly tenantId: string;
  readonly name?: string | Absent;
  readonly arguments?: Readonly<Record<string, string>> | Absent;
}

/**
 * Inserts the arguments into the templates of the bundle and applies the result, in one
 * transaction. The token names the state right after. Fails with BUNDLE_NOT_FOUND.
 */
export async function runBundle(service: Service, request: RunBundleRequest): Promise<SnapToken> {
  const tenant = parseTenantId(request.tenantId);
  const name = parseBundleName(request.name, "name");
  const values = new Map(Object.entries(requireObject(request.arguments, "arguments")));
  for (const [argument, value] of values) parseText(value, `arguments.${shorten(argument)}`);
  return await service.store.bundles.run(tenant, name, (bundle) => {
    checkArguments(bundle, values);
    return naming(name, () => {
      refuseOversize(bundle, service.maxDataPerWrite);
      return bundle.operations.map((operation, index) =>
        renderOperation(operation, values, `operations[${index}]`),
      );
    });
  });
}

function checkArguments(bundle: Bundle, values: ReadonlyMap<string, string>): void {
  const declared = new Set(bundle.arguments);
  const expected =
    declared.size === 0
      ? "no arguments"
      : `exactly ${[...declared].map((name) => `\`${name}\``).join(", ")}`;
  for (const name of declared) {
    if (values.has(name)) continue;
    const problem = `lacks \`${name}\` of bundle \`${bundle.name}\`, expected ${expected}`;
    throw fieldError("MISSING_ARGUMENT", "arguments", problem);
  }
  for (const name of values.keys()) {
    if (declared.has(name)) continue;
    throw invalidField(
      "arguments",
      `${quote(name)} is not an argument of bundle \`${bundle.name}\`, expected ${expected}`,
    );
  }
}

/** Every template is one tuple or attribute, so the size of a run is known before. */
function refuseOversize({ operations }: Bundle, max: number): void {
  const total = operations.flatMap((operation) => Object.values(operation).flat()).length;
  if (total <= max) return;
  throw fieldError(
    "MAX_DATA_PER_WRITE_EXCEEDED",
    "operations",
    `${total} tuples and attributes in one run, expected at most ${max} (\`database.max_data_per_write\`)`,
  );
}

function renderOperation(
  operation: BundleOperation,
  values: ReadonlyMap<string, string>,
  field: string,
): DataOperation {
  const render = <T>(
    templates: readonly string[],
    list: string,
    parse: (text: string, field: string) => T,
  ): readonly T[] =>
    templates.map((template, index) =>
      parse(renderTemplate(template, values), `${field}.${list}[${index}]`),
    );
  return {
    tuples: render(operation.relationshipsWrite, "relationships_write", tupleOf),
    attributes: render(operation.attributesWrite, "attributes_write", attributeOf),
    deletedTuples: render(operation.relationshipsDelete, "relationships_delete", tupleOf),
    deletedAttributes: render(operation.attributesDelete, "attributes_delete", attributeOf),
  };
}

function tupleOf(text: string, field: string): DataOperation["tuples"][number] {
  const element = elementOf(text, field);
  if (element.kind === "tuple") return parseTuple(element.tuple, field);
  throw invalidField(
    field,
    `${quote(text)} is an attribute, expected a tuple such as \`doc:1#viewer@user:2\``,
  );
}

function attributeOf(text: string, field: string): DataOperation["attributes"][number] {
  const element = elementOf(text, field);
  if (element.kind === "attribute") return parseAttribute(element.attribute, field);
  throw invalidField(
    field,
    `${quote(text)} is a tuple, expected an attribute such as \`doc:1$public|boolean:true\``,
  );
}

function elementOf(text: string, field: string): TextElement {
  try {
    return parseTextNotation(text);
  } catch (error) {
    throw error instanceof PembaError ? fieldError(error.code, field, error.plainMessage) : error;
  }
}
