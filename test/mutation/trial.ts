import type { Store } from "../../src/store/store.ts";
import type { Round } from "../differential/case.ts";
import { change } from "../differential/lookup-agreement.ts";
import type { LookupCase } from "../differential/lookup-case.ts";
import { type Story, tell } from "../differential/story.ts";

export type EngineName = "memory" | "postgres";

/** A case as one engine has been told it. */
export interface ToldCase {
  /** All that the case writes, and nothing more. */
  readonly plain: Story;
  /** With another schema, writes and deletes after that, behind which the questions look back. */
  readonly followed: Story;
}

/**
 * A form of question. `prepare` works out what may be answered to all questions of a case, where
 * `sound` is a store without a fault. What comes of it asks them, and says what is wrong with the
 * first answer that may not be given.
 */
export interface Form {
  readonly name: string;
  readonly prepare: (one: LookupCase, sound: ToldCase) => Promise<Ask>;
}

export type Ask = (told: ToldCase) => Promise<string | undefined>;

/** One form of question about one case, asked of one engine: what can kill a mutant. */
export interface Trial {
  readonly id: number;
  readonly name: string;
  readonly one: LookupCase;
  readonly form: Form;
  readonly engine: EngineName;
}

/** Tells an engine the case, in two tenants of its own. */
export async function tellCase(store: Store, one: LookupCase): Promise<ToldCase> {
  const plain = await tell(store, one);
  const followed = await tell(store, one);
  await store.schemas.write(followed.tenant, { text: "entity stranger {}" });
  for (const write of one.meanwhile) await change(followed, write);
  return { plain, followed };
}

/** The same over another store of the same data. */
export function over(store: Store, { plain, followed }: ToldCase): ToldCase {
  return { plain: { ...plain, store }, followed: { ...followed, store } };
}

/** The rounds as they ask a case that is `followed`: the schema and the state are named. */
export function pinned({ rounds, schemas, writes }: LookupCase): readonly Round[] {
  return rounds.map((round) => ({
    ...round,
    schema: round.schema ?? schemas.length - 1,
    after: round.after ?? writes.length - 1,
  }));
}

/** The first fault that is found, one question after the other. */
export async function firstFault<T>(
  questions: readonly T[],
  faultOf: (question: T) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const question of questions) {
    const fault = await faultOf(question);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
