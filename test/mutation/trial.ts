import type { Store } from "../../src/store/store.ts";
import type { Story } from "../differential/story.ts";

export type EngineName = "memory" | "postgres";

/** What an engine is told, in one tenant or several: the ground of questions. */
export interface Scene {
  readonly name: string;
  readonly tell: (store: Store) => Promise<readonly Story[]>;
}

/**
 * A form of question. `prepare` works out what may be answered to all questions of a scene, which a
 * store without a fault was told as `sound`. What comes of it asks them, and says what is wrong with
 * the first answer that may not be given.
 */
export interface Form {
  readonly name: string;
  readonly prepare: (sound: readonly Story[]) => Promise<Ask>;
}

export type Ask = (told: readonly Story[]) => Promise<string | undefined>;

/** The same in one tenant. */
export type AskStory = (story: Story) => Promise<string | undefined>;

/** One form of question in one scene, asked of one engine: what can kill a mutant. */
export interface Trial {
  readonly id: number;
  readonly name: string;
  readonly scene: Scene;
  readonly form: Form;
  readonly engine: EngineName;
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
