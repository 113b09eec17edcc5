import { type Dataset, type Fact, fact } from "../../test/data/dataset.ts";
import type { Asked, AskedRequest } from "./asked.ts";

/** Documents that are there before anything is written. */
const documents = 100_000;

/** Documents that bundles hand over from one owner to the next, again and again. */
const handedOver = 1_000;

const user = (nth: number): { readonly type: string; readonly id: string } => ({
  type: "user",
  id: `u${nth.toString(36)}`,
});

const handedDocument = (nth: number): { readonly type: string; readonly id: string } => ({
  type: "document",
  id: `handed-${nth % handedOver}`,
});

export const writtenData: Dataset = {
  name: "writes",
  schema: `
    entity user {}
    entity group { relation member @user }
    entity document {
      relation owner @user
      relation viewer @user @group#member
    }`,
  key: "writes",
  facts: function* (): Generator<Fact> {
    for (let nth = 0; nth < documents; nth++) {
      const { entity, relation, subject } = newTuple("base", nth);
      yield fact(entity, relation, subject);
    }
    for (let nth = 0; nth < handedOver; nth++) yield fact(handedDocument(nth), "owner", user(nth));
  },
  classes: [],
};

/** The bundle that `bundle run` runs. */
export const writtenBundle: AskedRequest = {
  path: "bundle/write",
  body: {
    bundles: [
      {
        name: "hand_over",
        arguments: ["document", "from", "to"],
        operations: [
          {
            relationships_write: ["document:{{.document}}#owner@user:{{.to}}"],
            relationships_delete: ["document:{{.document}}#owner@user:{{.from}}"],
          },
        ],
      },
    ],
  },
  right: '"hand_over"',
};

const ofWrites = { section: "write", dataset: writtenData.name, over: "rest" } as const;

/** Each request of a class changes something else, so none of them finds its work done. */
export const writeClasses: readonly Asked[] = [
  {
    ...ofWrites,
    name: "1 tuple, 1 connection",
    inFlight: 1,
    request: (nth) => writeOf([newTuple("single", nth)]),
  },
  {
    ...ofWrites,
    name: "1 tuple, 8 connections",
    inFlight: 8,
    request: (nth) => writeOf([newTuple("many", nth)]),
  },
  {
    ...ofWrites,
    name: "1 tuple, 64 connections",
    inFlight: 64,
    request: (nth) => writeOf([newTuple("crowd", nth)]),
  },
  {
    ...ofWrites,
    name: "100 tuples",
    inFlight: 1,
    request: (nth) => writeOf(newTuples("batch", nth * 100, 100)),
  },
  {
    ...ofWrites,
    name: "delete 1 tuple",
    inFlight: 1,
    prepare: (from, count) => writeOf(newTuples("deleted", from, count)),
    request: (nth) => deleteOf(newTuple("deleted", nth)),
  },
  { ...ofWrites, name: "bundle run", inFlight: 1, request: handOver },
];

interface WrittenTuple {
  readonly entity: { readonly type: string; readonly id: string };
  readonly relation: string;
  readonly subject: { readonly type: string; readonly id: string };
}

/** A tuple that no other number or class has. The ids of one class are spread over the indexes as random ones are. */
export function newTuple(ofClass: string, nth: number): WrittenTuple {
  const place = Math.imul(nth, 0x9e37_79b1) >>> 0;
  return {
    entity: { type: "document", id: `${place.toString(36)}-${ofClass}` },
    relation: "viewer",
    subject: user(nth % 100_000),
  };
}

function newTuples(ofClass: string, from: number, count: number): readonly WrittenTuple[] {
  return Array.from({ length: count }, (_, nth) => newTuple(ofClass, from + nth));
}

function writeOf(tuples: readonly WrittenTuple[]): AskedRequest {
  return { path: "data/write", body: { metadata: {}, tuples, attributes: [] }, right: snapToken };
}

function deleteOf({ entity, relation, subject }: WrittenTuple): AskedRequest {
  const filter = {
    entity: { type: entity.type, ids: [entity.id] },
    relation,
    subject: { type: subject.type, ids: [subject.id] },
  };
  const body = { tuple_filter: filter, attribute_filter: {} };
  return { path: "data/delete", body, right: snapToken };
}

function handOver(nth: number): AskedRequest {
  const names = {
    document: handedDocument(nth).id,
    from: user(nth).id,
    to: user(nth + handedOver).id,
  };
  return {
    path: "data/run-bundle",
    body: { name: "hand_over", arguments: names },
    right: snapToken,
  };
}

const snapToken = '"snap_token"';
