import { quote } from "../../base/quote.ts";
import { suggest } from "../../base/suggest.ts";
import { placeText, type PlacedMessage, type TextPlace } from "../../model-test/file/text-place.ts";
import {
  columnsOf,
  type TemplateColumn,
  type IdTemplate,
  isReadable,
} from "../../sql/application/id-template.ts";
import type { MapAttribute, MapTuple, TableMap } from "../../sql/application/table-map.ts";
import { keyTypes } from "../../sql/list/list-key.ts";
import type {
  HeadNames,
  HeadType,
  MapTable,
} from "../../store/postgres/sql-interface/map-target.ts";
import type { PlacedText, WrittenMap } from "./map-file.ts";
import {
  type ReadTemplate,
  readAttributeTemplate,
  readEntityTemplate,
  readTenantTemplate,
  readTupleTemplate,
  type WrittenTemplate,
} from "./map-template.ts";

/** A map that fits its table, or all that is wrong with it. */
export type CheckedMap =
  | { readonly map: TableMap; readonly warnings: readonly string[] }
  | { readonly problems: readonly PlacedMessage[] };

/** The types of columns that can be values of each type of attribute. */
const valueColumns: Readonly<Record<string, readonly string[]>> = {
  boolean: ["boolean"],
  string: ["text", "character varying", "uuid"],
  integer: ["smallint", "integer"],
  double: ["smallint", "integer", "real", "double precision"],
};

/** Checks maps against what the database knows of a table. Collects problems with their places. */
class MapChecker {
  readonly problems: PlacedMessage[] = [];
  readonly warnings: string[] = [];
  readonly #table: MapTable;

  constructor(table: MapTable) {
    this.#table = table;
  }

  problem(place: TextPlace, message: string): undefined {
    this.problems.push({ place, message });
    return undefined;
  }

  read<T>({ text, place }: PlacedText, reader: (text: string) => ReadTemplate<T>): T | undefined {
    const read = reader(text);
    return "fault" in read ? this.problem(place, read.fault) : read.value;
  }

  column(place: TextPlace, name: string): TemplateColumn | undefined {
    const { columns, schema, name: table } = this.#table;
    const column = columns.get(name);
    if (column === undefined) {
      const hint = suggest(name, columns.keys());
      return this.problem(
        place,
        `the table ${schema}.${table} has no column ${quote(name)}${hint}`,
      );
    }
    if (column.isVirtual) {
      return this.problem(
        place,
        `the column ${quote(name)} is computed when it is read, expected a stored one`,
      );
    }
    return { name, type: column.type };
  }

  id(place: TextPlace, template: WrittenTemplate | undefined): IdTemplate | undefined {
    if (template === undefined) return undefined;
    const parts: IdTemplate[number][] = [];
    for (const part of template) {
      if (part.kind === "text") {
        parts.push(part);
        continue;
      }
      const column = this.column(place, part.name);
      if (column === undefined) return undefined;
      if (!keyTypes.includes(column.type)) {
        const expected = `expected ${keyTypes.join(", ")}`;
        return this.problem(
          place,
          `the column ${quote(part.name)} has the type ${column.type}, which cannot be in an id, ${expected}`,
        );
      }
      parts.push({ kind: "column", column });
    }
    if (isReadable(parts)) return parts;
    return this.problem(
      place,
      "different rows could give the same id: put a text between the columns that one of them cannot have, such as `:`",
    );
  }

  attribute(
    written: PlacedText,
    type: HeadType | undefined,
    entityType: string,
  ): MapAttribute | undefined {
    const { place } = written;
    const read = this.read(written, readAttributeTemplate);
    const column = read && this.column(place, read.column);
    if (read === undefined || column === undefined || type === undefined) return undefined;
    const known = type.attributes.get(read.name);
    if (known === undefined) {
      const what = `an attribute of ${quote(entityType)}`;
      return this.problem(place, notAmong(read.name, what, [...type.attributes.keys()]));
    }
    const fits = [...known.keys()].filter((valueType) => isColumnOf(valueType, column.type));
    const [valueType] = fits;
    if (valueType === undefined) {
      const expected = [...known.keys()].flatMap(columnTypesOf).join(", ");
      return this.problem(
        place,
        `the column ${quote(read.column)} has the type ${column.type}, and the attribute ${quote(read.name)} is of ${[...known.keys()].join(", ")}: expected ${expected}`,
      );
    }
    return { name: read.name, valueType, column: read.column };
  }

  tuple(written: PlacedText, type: HeadType | undefined, entityType: string): MapTuple | undefined {
    const { place } = written;
    const read = this.read(written, readTupleTemplate);
    const subjectId = this.id(place, read?.subjectId);
    if (read === undefined || type === undefined) return undefined;
    const known = type.relations.get(read.relation);
    if (known === undefined) {
      const what = `a relation of ${quote(entityType)}`;
      return this.problem(place, notAmong(read.relation, what, [...type.relations.keys()]));
    }
    const { relation, subjectType, subjectRelation } = read;
    const subject = `${subjectType}${subjectRelation && `#${subjectRelation}`}`;
    if (!known.has(subject)) {
      const what = `a subject of \`${entityType}#${relation}\``;
      return this.problem(place, notAmong(subject, what, [...known.keys()]));
    }
    return subjectId && { relation, subjectType, subjectId, subjectRelation };
  }

  /** A unique index whose columns are in all elements, so that no two rows give the same one. */
  key(written: WrittenMap, parts: Omit<TableMap, "key">): readonly TemplateColumn[] | undefined {
    const shared = [...columnsOf(parts.tenant), ...columnsOf(parts.entityId)];
    const names = (columns: readonly TemplateColumn[]): Set<string> =>
      new Set(columns.map(({ name }) => name));
    const kinds = parts.tuples.map(
      ({ relation, subjectType, subjectRelation }) =>
        `${relation}@${subjectType}#${subjectRelation}`,
    );
    const columns = [
      ...parts.tuples.map(({ subjectId }, index) => {
        // Two tuples of one kind: what one row gives by the first, another could give by the second.
        const isAlone = kinds.filter((kind) => kind === kinds[index]).length === 1;
        return isAlone ? names([...shared, ...columnsOf(subjectId)]) : names(shared);
      }),
      ...parts.attributes.map(() => names(shared)),
    ];
    const { keys, schema, name } = this.#table;
    const fits = (key: readonly string[], each: Set<string>): boolean =>
      key.every((column) => each.has(column));
    const key = keys.find((candidate) => columns.every((each) => fits(candidate, each)));
    if (key !== undefined) {
      return key.flatMap((column) => this.column(written.place, column) ?? []);
    }
    const places = [...written.tuples, ...written.attributes];
    columns.forEach((each, index) => {
      if (keys.some((candidate) => fits(candidate, each))) return;
      this.problem(
        places[index]?.place ?? written.place,
        `two rows of ${schema}.${name} could give the same: expected a unique index whose columns are among ${[...each].map(quote).join(", ") || "none"}`,
      );
    });
    if (this.problems.length === 0) {
      this.problem(
        written.place,
        `no unique index of ${schema}.${name} has columns that are in all tuples and attributes of the map: make two maps of it`,
      );
    }
    return undefined;
  }
}

/** Checks a map against its table and the schemas of its tenants, and gives it the table's columns. */
export function checkMap(written: WrittenMap, table: MapTable, known: HeadNames): CheckedMap {
  const checker = new MapChecker(table);
  refuseTable(checker, written, table);
  const tenant = checker.id(written.tenant.place, checker.read(written.tenant, readTenantTemplate));
  const entity = checker.read(written.entity, readEntityTemplate);
  const entityId = checker.id(written.entity.place, entity?.id);
  const type = entity && known.types.get(entity.type);
  if (entity !== undefined && type === undefined) {
    const names = [...known.types.keys()];
    checker.problem(written.entity.place, notAmong(entity.type, "an entity type", names));
  }
  const entityType = entity?.type ?? "";
  const tuples = written.tuples.flatMap((each) => checker.tuple(each, type, entityType) ?? []);
  const attributes = written.attributes.flatMap(
    (each) => checker.attribute(each, type, entityType) ?? [],
  );
  refuseTwice(checker, written, attributes);
  const { problems } = checker;
  if (problems.length > 0 || tenant === undefined || entityId === undefined) return { problems };
  const { name, truncate } = written;
  const parts = { name, table, tenant, entityType, entityId, tuples, attributes, truncate };
  const key = checker.key(written, parts);
  if (key === undefined) return { problems };
  const map = { ...parts, table: { schema: table.schema, name: table.name }, key };
  return { map, warnings: warningsOf(written, map, known) };
}

const kinds: ReadonlyMap<string, string> = new Map([
  ["v", "a view"],
  ["m", "a materialized view"],
  ["f", "a foreign table"],
]);

function refuseTable(checker: MapChecker, { table: { place } }: WrittenMap, table: MapTable): void {
  const { kind, parent, child } = table;
  const name = `${table.schema}.${table.name}`;
  if ([name, ...table.columns.keys()].some((each) => /[\n\r]/.test(each))) {
    checker.problem(place, `a name of ${quote(name)} or its columns has a line break`);
  } else if (kind !== "r" && kind !== "p") {
    checker.problem(place, `${name} is ${kinds.get(kind) ?? "no table"}, expected a table`);
  } else if (parent !== undefined) {
    checker.problem(
      place,
      `${name} is a part of ${parent}, whose statements would not be seen: expected that table`,
    );
  } else if (child !== undefined) {
    checker.problem(
      place,
      `${child} inherits from ${name}, and its statements would not be seen: expected a table without heirs`,
    );
  }
}

function refuseTwice(
  checker: MapChecker,
  written: WrittenMap,
  attributes: readonly MapAttribute[],
): void {
  const names = attributes.map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice < 0) return;
  const place = written.attributes[twice]?.place ?? written.place;
  checker.problem(place, `the attribute ${quote(names[twice] ?? "")} is given twice`);
}

function warningsOf(written: WrittenMap, map: TableMap, known: HeadNames): readonly string[] {
  const type = known.types.get(map.entityType);
  const counts = [
    ...map.tuples.map(({ relation, subjectType, subjectRelation }) => {
      const subject = `${subjectType}${subjectRelation && `#${subjectRelation}`}`;
      return {
        what: `${map.entityType}#${relation}@${subject}`,
        tenants: type?.relations.get(relation)?.get(subject) ?? 0,
      };
    }),
    ...map.attributes.map(({ name, valueType }) => ({
      what: `${map.entityType}$${name}`,
      tenants: type?.attributes.get(name)?.get(valueType) ?? 0,
    })),
  ];
  const place = placeText(written.place);
  return counts.flatMap(({ what, tenants }) =>
    tenants === known.heads
      ? []
      : [
          `${place}: the schemas of ${known.heads - tenants} of ${known.heads} tenants have no \`${what}\`: it is kept there, and answers nothing`,
        ],
  );
}

function columnTypesOf(valueType: string): readonly string[] {
  const isList = valueType.endsWith("[]");
  const types = valueColumns[isList ? valueType.slice(0, -2) : valueType] ?? [];
  return isList ? types.map((type) => `${type}[]`) : types;
}

function isColumnOf(valueType: string, columnType: string): boolean {
  return columnTypesOf(valueType).includes(columnType);
}

const shownMax = 20;

function notAmong(name: string, what: string, names: readonly string[]): string {
  if (names.length === 0) return `${quote(name)} is not ${what}, which has none`;
  const shown = names.slice(0, shownMax).map(quote).join(", ");
  const rest = names.length > shownMax ? ` and ${names.length - shownMax} more` : "";
  return `${quote(name)} is not ${what}, expected ${shown}${rest}${suggest(name, names)}`;
}
