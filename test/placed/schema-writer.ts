/** A client that changes the schema of a tenant while it moves. */
import assert from "node:assert/strict";

import { must } from "../../src/base/assert.ts";
import { pause } from "../../src/base/pause.ts";
import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Schema as PembaSchema } from "../../src/gen/pemba/v1/schema_pb.ts";
import { schemaText } from "../store/engines.ts";
import type { Dice } from "../support/dice.ts";
import type { TenantModel } from "./model.ts";

const document = "schema";
const pauseMaxMs = 200;

/** Who may edit, as a version has it. The document has an owner and no viewer. */
type Editors = "owner" | "viewer";

/** It alone writes the schema. Each write names the head that it follows, so none is made twice or late. */
export class SchemaWriter {
  answers = 0;
  readonly #model: TenantModel;
  readonly #draws: Dice;
  /** All versions in the order of their writes. Undefined of the first one, which has no editors. */
  readonly #versions = new Map<string, Editors | undefined>();

  constructor(model: TenantModel, draws: Dice) {
    this.#model = model;
    this.#draws = draws;
  }

  get versions(): number {
    return this.#versions.size;
  }

  async live(signal: AbortSignal): Promise<void> {
    this.#versions.set(await this.#head(), undefined);
    await this.#model.change(this.#draws, { id: document, permission: "owner", value: true });
    while (!signal.aborted) {
      await this.#write();
      const known = [...this.#versions].slice(1);
      const old = must(known[this.#draws.upTo(known.length)], "one was written");
      const head = must(known.at(-1), "one was written");
      await this.#check(["", head[1]]);
      await this.#check(old);
      await pause(this.#draws.upTo(pauseMaxMs), signal);
    }
  }

  /** There are the versions that were written, each once. */
  async verify(): Promise<void> {
    const { fleet, id: tenantId } = this.#model;
    const found: string[] = [];
    let continuousToken = "";
    do {
      const request = { tenantId, pageSize: 50, continuousToken };
      const { answer } = await fleet.answer(this.#draws, Schema.method.list, request);
      found.push(...answer.schemas.map(({ version }) => version));
      ({ continuousToken } = answer);
    } while (continuousToken !== "");
    assert.deepEqual(found.toSorted(), [...this.#versions.keys()].toSorted(), tenantId);
    assert.equal(await this.#head(), [...this.#versions.keys()].at(-1), tenantId);
  }

  async #write(): Promise<void> {
    const { fleet, id: tenantId } = this.#model;
    const editors = this.#draws.happens(0.5) ? "owner" : "viewer";
    const number = this.#versions.size;
    const permission = `permission edit = ${editors} // in version ${number}`;
    const schema = schemaText.replace("permission view", `${permission}\n    permission view`);
    const expectedHead = must([...this.#versions.keys()].at(-1), "the model has written one");
    const { answer, tries } = await fleet.untilAnswered(
      `schema ${number} of ${tenantId}`,
      async () =>
        await fleet.ask(this.#draws, PembaSchema.method.write, { tenantId, schema, expectedHead }),
      ["PRECONDITION_FAILED"],
    );
    // An attempt without an answer may have been made: the head is its version then.
    assert.ok(answer !== undefined || tries > 1, `${expectedHead} of ${tenantId} is not the head`);
    const version = answer?.schemaVersion ?? (await this.#head());
    assert.ok(!this.#versions.has(version), `${version} of ${tenantId} is there already`);
    const { answer: stored } = await fleet.answer(this.#draws, PembaSchema.method.readText, {
      tenantId,
      schemaVersion: version,
    });
    assert.equal(stored.schema, schema, `${version} of ${tenantId}`);
    this.#versions.set(version, editors);
  }

  async #head(): Promise<string> {
    const request = { tenantId: this.#model.id, pageSize: 1 };
    const { answer } = await this.#model.fleet.answer(this.#draws, Schema.method.list, request);
    return answer.head;
  }

  /** The owner of the document may edit it by a version, or may not. */
  async #check([schemaVersion, editors]: readonly [string, Editors | undefined]): Promise<void> {
    const { fleet, id: tenantId } = this.#model;
    const { answer } = await fleet.answer(this.#draws, Permission.method.check, {
      tenantId,
      metadata: { schemaVersion, depth: 20 },
      entity: { type: "doc", id: document },
      permission: "edit",
      subject: { type: "user", id: "ann" },
    });
    const expected = editors === "owner" ? CheckResult.ALLOWED : CheckResult.DENIED;
    assert.equal(answer.can, expected, `edit by ${schemaVersion || "the head"} of ${tenantId}`);
    this.answers++;
  }
}
