import assert from "node:assert/strict";

import type postgres from "postgres";

import type { Attribute, SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Dice } from "../support/dice.ts";
import type { Moment, NotedCall } from "./noted-calls.ts";
import { docs, someAttributes, someTuples, tuplesOf, users } from "./random-writes.ts";

/** Sends a statement of an open transaction, by either driver. */
export type Statement = <Row extends object>(
  text: TemplateStringsArray,
  ...values: readonly (string | readonly string[])[]
) => PromiseLike<readonly Row[]>;

export function statementOf(inside: postgres.TransactionSql): Statement {
  return <Row extends object>(
    text: TemplateStringsArray,
    ...values: readonly (string | readonly string[])[]
  ) => inside<Row[]>(text, ...values);
}

/**
 * One call of a function.
 * @param noted gets the call, if it is given: then the role may read `log_copy`, a copy of the log
 */
export async function callOnce(
  inside: Statement,
  tenant: TenantId,
  die: Dice,
  noted?: NotedCall[],
): Promise<void> {
  const { call, wanted } = drawCall(inside, tenant, die);
  if (noted === undefined) {
    await call();
    return;
  }
  const { logged, snapshot } = await stateOf(inside);
  await call();
  const { xid, ...after } = await stateOf(inside);
  // Each call takes an id, also if it changes nothing.
  assert.ok(xid !== null);
  noted.push({ xid, wanted, before: { logged, snapshot }, after });
}

/** A call that is not made yet, and what it wants. */
interface DrawnCall {
  readonly call: () => PromiseLike<unknown>;
  readonly wanted: NotedCall["wanted"];
}

function drawCall(inside: Statement, tenant: TenantId, die: Dice): DrawnCall {
  const { upTo } = die;
  switch (upTo(9)) {
    case 0: {
      const [id, user] = [String(upTo(docs)), String(upTo(users))];
      return {
        call: () =>
          inside`select pemba.write_tuple(${tenant}, 'doc', ${id}, 'owner', 'user', ${user})`,
        wanted: new Map([[keyOfTuple(`doc:${id}#owner@user:${user}`), ""]]),
      };
    }
    case 1:
    case 2: {
      const tuples = someTuples(die, 12);
      return {
        call: () => inside`select pemba.write_tuples(${tenant}, ${tuples}::text[])`,
        wanted: new Map(tuples.map((text) => [keyOfTuple(text), ""])),
      };
    }
    case 3:
    case 4: {
      const tuples = someTuples(die, upTo(2) === 0 ? 1 : 8);
      return {
        call: () => inside`select pemba.delete_tuples(${tenant}, ${tuples}::text[])`,
        wanted: new Map(tuples.map((text) => [keyOfTuple(text), undefined])),
      };
    }
    case 5:
    case 6:
      return drawAttributes(inside, tenant, someAttributes(die));
    case 7: {
      const ids = someAttributes(die).map(({ entity }) => entity.id);
      const names = ids.map((id) => `doc:${id}$limit`);
      return {
        call: () => inside`select pemba.delete_attributes(${tenant}, ${names}::text[])`,
        wanted: new Map(ids.map((id) => [keyOfLimit(id), undefined])),
      };
    }
    default: {
      const id = String(upTo(docs));
      return {
        call: () => inside`select pemba.delete_entity(${tenant}, 'doc', ${id})`,
        wanted: new Map(
          [...tuplesOf(id).map(keyOfTuple), keyOfLimit(id)].map((key) => [key, undefined]),
        ),
      };
    }
  }
}

function drawAttributes(
  inside: Statement,
  tenant: TenantId,
  attributes: readonly Attribute[],
): DrawnCall {
  const given = attributes.map(({ entity, attribute, value }) => ({
    entity,
    attribute,
    value: { "@type": "base.v1.IntegerValue", data: value.data },
  }));
  return {
    call: () =>
      inside`select pemba.write_attributes(${tenant}, ${JSON.stringify(given)}::text::jsonb)`,
    wanted: new Map(
      attributes.map(({ entity, value }) => [
        keyOfLimit(entity.id),
        `integer${JSON.stringify(value.data)}`,
      ]),
    ),
  };
}

/** `doc:1#owner@user:2` as the key of a change. */
function keyOfTuple(text: string): string {
  const [, type, id, relation, subjectType, subjectId] =
    /^(\w+):(\w+)#(\w+)@(\w+):(\w+)$/.exec(text) ?? assert.fail(text);
  return `${type} ${id} ${relation} ${subjectType} ${subjectId} `;
}

function keyOfLimit(id: string): string {
  return `doc ${id} limit`;
}

interface State extends Moment {
  readonly xid: string | null;
}

async function stateOf(inside: Statement): Promise<State> {
  const [row] = await inside<State>`
    select pg_current_xact_id_if_assigned()::text as xid, pg_current_snapshot()::text as snapshot,
      (select count(*)::integer from log_copy where xid = pg_current_xact_id_if_assigned()) as logged
  `;
  return row ?? assert.fail("no state");
}

/** The token of the state that the transaction sees. */
export async function tokenOf(inside: Statement, tenant: TenantId): Promise<SnapToken> {
  const [row] = await inside<{ token: SnapToken }>`select pemba.token(${tenant})`;
  return row?.token ?? assert.fail("no token");
}
