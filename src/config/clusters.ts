import { integer, type Kind, type OptionSchema, scalar, type ValueFault } from "./kind.ts";
import { maskPasswords } from "./mask.ts";
import { postgresUri } from "./postgres-uri.ts";
import { isList, readEntry, readPart } from "./tree-part.ts";
import { parseTree, type Tree } from "./tree.ts";

/** A Postgres database on which tenants are placed. */
export interface ClusterEntry {
  readonly name: string;
  /** The database that takes writes. */
  readonly uri: string;
  /** Standbys that answer reads. Undefined: there are none but those of `uri`. */
  readonly reader: string | undefined;
  /** Its share of new tenants. */
  readonly weight: number;
  /** Undefined: as the keys of the same names say for each cluster. */
  readonly maxConnections: number | undefined;
  readonly minConnections: number | undefined;
}

/** Its name is a label of metrics, so there cannot be many. */
const clustersMax = 64;

const namePattern = /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/;

/** The name of a cluster, or none. */
export const clusterName: Kind<string> = {
  expected: "1 to 32 characters a-z 0-9 and, in between, hyphens",
  schema: { type: scalar, pattern: `^$|${namePattern.source}` },
  read: (text) => (text === "" || namePattern.test(text) ? text : undefined),
};

const someName: Kind<string> = {
  ...clusterName,
  schema: { type: scalar, pattern: namePattern.source },
  read: (text) => (namePattern.test(text) ? text : undefined),
};

const someUri: Kind<string> = {
  ...postgresUri,
  schema: { type: "string", pattern: "^postgres(ql)?://.+$" },
  read: (text) => (text === "" ? undefined : postgresUri.read(text)),
};

const weight = integer({ from: 0, to: 1_000 });
const maxConnections = integer({ from: 1, to: 10_000 });
const minConnections = integer({ from: 0, to: 10_000 });

const parts = {
  all: ["name", "uri", "reader", "weight", "max_connections", "min_connections"],
  such: "`name` and `uri`",
};

/** Clusters with what is particular to each. */
export const clusterList: Kind<readonly ClusterEntry[]> = {
  expected:
    "a list of `name`, `uri` and, where wanted, `reader`, `weight`, `max_connections` and `min_connections`; in one text as JSON",
  isTree: true,
  schema: {
    anyOf: [{ type: "array", items: entrySchema(), maxItems: clustersMax }, { type: "string" }],
  },
  faults: (text) => readClusters(text).faults,
  show: (text) =>
    readClusters(text).clusters.map(({ uri, reader, ...rest }) => ({
      ...rest,
      uri: maskPasswords(uri),
      reader: reader && maskPasswords(reader),
    })),
  read: (text) => {
    const { clusters, faults } = readClusters(text);
    return faults.length === 0 ? clusters : undefined;
  },
};

function entrySchema(): OptionSchema {
  return {
    type: "object",
    additionalProperties: false,
    required: ["name", "uri"],
    properties: {
      name: someName.schema,
      uri: someUri.schema,
      reader: someUri.schema,
      weight: weight.schema,
      max_connections: maxConnections.schema,
      min_connections: minConnections.schema,
    },
  };
}

/** The state of reading. */
interface ClusterReading {
  readonly clusters: ClusterEntry[];
  readonly faults: ValueFault[];
}

function readClusters(text: string): ClusterReading {
  const reading: ClusterReading = { clusters: [], faults: [] };
  const { clusters, faults } = reading;
  const tree = text === "" ? [] : parseTree(text);
  if (!isList(tree)) {
    // The text may have a password, and is not repeated.
    faults.push({ place: "", problem: "is not a list in JSON, expected [{...}, ...]" });
    return reading;
  }
  for (const [nth, entry] of tree.entries()) readCluster(reading, entry, `[${nth}]`);
  if (tree.length > clustersMax) {
    faults.push({
      place: "",
      problem: `has ${tree.length} clusters, expected at most ${clustersMax}`,
    });
  }
  if (clusters.length > 0 && clusters.every((one) => one.weight === 0)) {
    const problem =
      "has the weight 0 everywhere, expected a cluster that new tenants are placed on";
    faults.push({ place: "", problem });
  }
  return reading;
}

function readCluster({ clusters, faults }: ClusterReading, entry: Tree, place: string): void {
  const given = readEntry(faults, entry, place, parts);
  if (given === undefined) return;
  const part = <T>(name: string, kind: Kind<T>): T | undefined =>
    readPart(faults, given.get(name), `${place}.${name}`, kind);
  const optional = <T>(name: string, kind: Kind<T>): T | undefined =>
    given.has(name) ? part(name, kind) : undefined;
  const cluster: ClusterEntry = {
    name: part("name", someName) ?? "",
    uri: part("uri", someUri) ?? "",
    reader: optional("reader", someUri),
    weight: optional("weight", weight) ?? 1,
    maxConnections: optional("max_connections", maxConnections),
    minConnections: optional("min_connections", minConnections),
  };
  for (const key of ["name", "uri"] as const) {
    const first = clusters.findIndex((other) => other[key] !== "" && other[key] === cluster[key]);
    if (first !== -1) {
      faults.push({ place: `${place}.${key}`, problem: `is that of [${first}], too` });
    }
  }
  clusters.push(cluster);
}
