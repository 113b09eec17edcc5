import assert from "node:assert/strict";
import { test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { newTenant, write } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { openInterface } from "./interface-scene.ts";

/**
 * In each version exactly one permission leads to the document, that of its own number. So an answer
 * tells of which version it is.
 */
function schemaOf(number: number): string {
  return `
    entity user {}
    entity doc {
      relation owner @user
      relation nobody @user
      permission even = ${number % 2 === 0 ? "owner" : "nobody"}
      permission odd = ${number % 2 === 0 ? "nobody" : "owner"}
      permission p_${"abcdefghij"[number % 10]} = owner
    }
  `;
}

/**
 * Tests that writers of schemas and callers of functions meet no error but the documented ones, and
 * that no answer is of another version than the head that its statement saw.
 */
export function testSchemaChanges(run: {
  readonly writers: number;
  readonly callers: number;
  readonly writes: number;
}): void {
  test(`${run.writers} writers of schemas and ${run.callers} callers meet no surprise`, async (t) => {
    const scene = await openInterface();
    const app = connect(`${scene.url}?role=${scene.role}`, run.callers);
    const owner = connect(scene.url, 1);
    t.after(async () => {
      await Promise.all([app.end({ timeout: 1 }), owner.end({ timeout: 1 })]);
      await scene.close();
    });
    const tenants: TenantId[] = [];
    for (let number = 0; number < 5; number += 1) {
      const tenant = await newTenant(scene.store);
      await scene.store.schemas.write(tenant, { text: schemaOf(0) });
      await write(scene.store, tenant, { tuples: ["doc:1#owner@user:a"] });
      tenants.push(tenant);
    }
    let isWriting = true;
    let answers = 0;
    const writer = async (first: number): Promise<void> => {
      for (let turn = 0; turn < run.writes; turn += 1) {
        const number = first + turn;
        const tenant = tenants[number % tenants.length] ?? assert.fail();
        await scene.store.schemas.write(tenant, { text: schemaOf(number) });
      }
    };
    const caller = async (first: number): Promise<void> => {
      for (let turn = first; isWriting; turn += 1) {
        const tenant = tenants[turn % tenants.length] ?? assert.fail();
        const [row] = await app`
          select pemba.may(${tenant}, 'doc', '1', 'even', 'user', 'a') as even,
            pemba.may(${tenant}, 'doc', '1', 'odd', 'user', 'a') as odd,
            array(select pemba.visible(${tenant}, 'doc', 'even', 'user', 'a')) as visible
        `;
        assert.notEqual(row?.["even"], row?.["odd"]);
        assert.deepEqual(row?.["visible"], row?.["even"] === true ? ["1"] : []);
        answers += 1;
      }
    };
    const callers = Array.from({ length: run.callers }, (_, first) => caller(first));
    const writers = Array.from({ length: run.writers }, (_, first) => writer(first));
    await Promise.all(writers).finally(() => {
      isWriting = false;
    });
    await Promise.all(callers);
    assert.ok(answers > 0);
    const lacking = await owner`
      select from tenants as t
      where t.head_version is not null
        and not exists (
          select from pemba_plans.versions as v
          where v.tenant = t.number and v.version = t.head_version
        )
    `;
    assert.equal(lacking.length, 0);
  });
}
