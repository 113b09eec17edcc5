import { type ErrorDetail, PembaError } from "../../base/error.ts";
import type { Attribute } from "../../base/tuple.ts";
import { writeSchema } from "../../service/schemas.ts";
import { writeData } from "../../service/write-data.ts";
import type { ModelFile, Placed } from "../file/model-file.ts";
import type { PlacedMessage, TextPlace } from "../file/text-place.ts";
import type { TestTenant } from "./run-model.ts";

/** The text of a schema, wherever it comes from. */
export interface LoadedSchema {
  readonly text: string;
  /** How messages name the text. */
  readonly label: string;
  /** The place of a line and a column of the text. */
  readonly placeIn: (line: number, column: number) => TextPlace;
}

/** A file whose schema is at hand. */
export interface LoadedModel {
  readonly file: ModelFile;
  readonly schema: LoadedSchema;
}

/**
 * Writes schema and data of a file. Returns what is wrong with them: then the rest is not written. Fails
 * if the store does not answer.
 */
export async function writeModel(
  tenant: TestTenant,
  { file, schema }: LoadedModel,
): Promise<readonly PlacedMessage[]> {
  const { service, tenantId } = tenant;
  try {
    await writeSchema(service, { tenantId, schema: schema.text });
  } catch (error) {
    return problemsOf(error, ({ line, column }) => schema.placeIn(line ?? 1, column ?? 1));
  }
  const problems: PlacedMessage[] = [];
  for (const tuples of partsOf(file.tuples, service.maxDataPerWrite)) {
    problems.push(...(await writePart(tenant, { tuples, attributes: [] })));
  }
  for (const attributes of partsOf(lastOfEach(file.attributes), service.maxDataPerWrite)) {
    problems.push(...(await writePart(tenant, { tuples: [], attributes })));
  }
  return problems;
}

type DataPart = Pick<ModelFile, "tuples" | "attributes">;

async function writePart(
  { service, tenantId }: TestTenant,
  { tuples, attributes }: DataPart,
): Promise<readonly PlacedMessage[]> {
  try {
    await writeData(service, {
      tenantId,
      metadata: {},
      tuples: tuples.map(({ value }) => value),
      attributes: attributes.map(({ value }) => value),
    });
    return [];
  } catch (error) {
    return problemsOf(error, ({ field }) => placeOfField({ tuples, attributes }, field ?? ""));
  }
}

/** A message for each detail of an error that is about what was sent. Throws any other. */
function problemsOf(
  error: unknown,
  placeOf: (detail: ErrorDetail) => TextPlace | undefined,
): readonly PlacedMessage[] {
  if (!(error instanceof PembaError) || error.details.length === 0) throw error;
  return error.details.map((detail) => {
    const place = placeOf(detail);
    if (place === undefined) throw error;
    return { place, message: detail.message };
  });
}

/** The place of `tuples[3].relation`. Undefined for a field of another form. */
function placeOfField({ tuples, attributes }: DataPart, field: string): TextPlace | undefined {
  const groups = /^(?<list>tuples|attributes)\[(?<index>\d+)\]/.exec(field)?.groups;
  const list = groups?.["list"] === "tuples" ? tuples : attributes;
  return list[Number(groups?.["index"])]?.place;
}

/** A later line for an attribute replaces an earlier one. */
function lastOfEach(attributes: readonly Placed<Attribute>[]): readonly Placed<Attribute>[] {
  const last = new Map(
    attributes.map((one) => {
      const { entity, attribute } = one.value;
      return [`${entity.type}:${entity.id}$${attribute}`, one];
    }),
  );
  return [...last.values()];
}

function* partsOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
