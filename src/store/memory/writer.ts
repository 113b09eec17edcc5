import type { Steps } from "../../base/steps.ts";
import { runInSlices } from "../../base/time-slice.ts";
import type { SnapToken } from "../../base/tuple.ts";
import type { DataOperation } from "../bundle.ts";
import type { Change } from "../change.ts";
import { type DataChange, preconditionFailed, tokenField } from "../data-change.ts";
import { withTokenIn } from "../store-error.ts";
import type { DataFilters } from "../store.ts";
import { beginWrite, type Revision, type Write } from "./revision.ts";
import { applyOperations, deleteFound, type TenantData } from "./tenant-data.ts";

/** What a writer needs of the engine. */
interface Engine {
  /** Makes a state of what a write has changed. Returns its token. Fails with TENANT_NOT_FOUND. */
  readonly commit: (write: Write, changes: readonly Change[]) => Steps<SnapToken>;
  /** The present state. */
  readonly revision: () => Revision;
  /** The state that a token names. */
  readonly revisionIn: (token: SnapToken) => Revision;
}

/**
 * Changes the data of a tenant while it is the only one that does. A long change lets other requests run
 * in between, which see none of it before all is done. Once it has begun, a change goes to its end, also
 * when its caller leaves.
 */
export class TenantWriter {
  readonly #data: TenantData;
  readonly #engine: Engine;

  constructor(data: TenantData, engine: Engine) {
    this.#data = data;
    this.#engine = engine;
  }

  /** Applies operations whose writes fit the schema; returns the token of the state right after. */
  async apply(operations: readonly DataOperation[]): Promise<SnapToken> {
    return await this.#change((write, changes) =>
      applyOperations(this.#data, operations, write, changes),
    );
  }

  /** Deletes what the filters let through, and returns the token of the state right after. */
  async delete(filters: DataFilters): Promise<SnapToken> {
    const by = {
      tuples: filters.tuples === undefined ? [] : [filters.tuples],
      attributes: filters.attributes === undefined ? [] : [filters.attributes],
    };
    return await this.#change((write, changes) => deleteFound(this.#data, by, write, changes));
  }

  /**
   * Deletes, then writes what fits the schema, and returns the token of the state right after. Fails
   * with PRECONDITION_FAILED, and as `MemoryData.revisionOf` does.
   */
  async change(change: DataChange): Promise<SnapToken> {
    const failed = this.#failedPreconditions(change);
    if (failed.length > 0) throw preconditionFailed(change, failed);
    const by = { tuples: change.tupleFilters, attributes: change.attributeFilters };
    const { tuples, attributes } = change;
    const written = { tuples, attributes, deletedTuples: [], deletedAttributes: [] };
    const data = this.#data;
    return await this.#change(function* (write, changes) {
      yield* deleteFound(data, by, write, changes);
      yield* applyOperations(data, [written], write, changes);
    });
  }

  /** The places of the preconditions that do not hold now. */
  #failedPreconditions({ preconditions }: DataChange): readonly number[] {
    const { tuples, changed } = this.#data;
    const { revision, revisionIn } = this.#engine;
    return preconditions.flatMap((precondition, place) => {
      const holds =
        precondition.kind === "tuple"
          ? tuples.has(precondition.tuple, revision()) === precondition.exists
          : changed <= withTokenIn(tokenField(place), () => revisionIn(precondition.since));
      return holds ? [] : [place];
    });
  }

  async #change(work: (write: Write, changes: Change[]) => Steps<void>): Promise<SnapToken> {
    return await runInSlices(this.#steps(work), undefined);
  }

  *#steps(work: (write: Write, changes: Change[]) => Steps<void>): Steps<SnapToken> {
    const write = beginWrite();
    const changes: Change[] = [];
    yield* work(write, changes);
    return yield* this.#engine.commit(write, changes);
  }
}
