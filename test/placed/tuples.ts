import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";

import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { BooleanValueSchema } from "../../src/gen/base/v1/value_pb.ts";
import type { Dice } from "../support/dice.ts";
import type { Fleet } from "./fleet.ts";

/** All tuples of a tenant at a state, page by page. Fails as a request does. */
export async function readTuples(
  fleet: Pick<Fleet, "ask">,
  draws: Dice,
  tenantId: string,
  snapToken: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  let continuousToken = "";
  do {
    const request = {
      tenantId,
      metadata: { snapToken },
      filter: {},
      pageSize: 20,
      continuousToken,
    };
    const answer = await fleet.ask(draws, Data.method.readRelationships, request);
    found.push(...answer.tuples.map((tuple) => keyOf(tuple)));
    ({ continuousToken } = answer);
  } while (continuousToken !== "");
  return found;
}

interface AnyTuple {
  readonly entity?: { readonly type: string; readonly id: string } | undefined;
  readonly relation: string;
  readonly subject?: { readonly type: string; readonly id: string } | undefined;
}

export function keyOf({ entity, relation, subject }: AnyTuple): string {
  return `${entity?.type}:${entity?.id}#${relation}@${subject?.type}:${subject?.id}`;
}

export function tupleOf(id: string, relation: string, user: string) {
  return { entity: { type: "doc", id }, relation, subject: { type: "user", id: user } };
}

export function attributeOf(id: string, data: boolean) {
  const value = anyPack(BooleanValueSchema, create(BooleanValueSchema, { data }));
  return { entity: { type: "doc", id }, attribute: "public", value };
}
