import { must } from "../../src/base/assert.ts";
import type { Round } from "../differential/case.ts";
import { change } from "../differential/lookup-agreement.ts";
import type { LookupCase } from "../differential/lookup-case.ts";
import { type Story, tell } from "../differential/story.ts";
import { checksOf, subjectPermissionsOf } from "./ask-checks.ts";
import { lookupsOf } from "./ask-lookups.ts";
import { treesOf } from "./ask-trees.ts";
import type { Form, Scene } from "./trial.ts";

/**
 * A case of rounds: in one tenant as its writes leave it, in another one with another schema, writes
 * and deletes after that, behind which the questions look back.
 */
export function roundsScene(name: string, one: LookupCase): Scene {
  return {
    name,
    tell: async (store) => {
      const plain = await tell(store, one);
      const followed = await tell(store, one);
      await store.schemas.write(followed.tenant, { text: "entity stranger {}" });
      for (const write of one.meanwhile) await change(followed, write);
      return [plain, followed];
    },
  };
}

/** The forms in which the items of its rounds are asked. */
export function roundsForms(one: LookupCase): readonly Form[] {
  const lookBack = { ...one, rounds: pinned(one) };
  const plain = ([story]: readonly Story[]): Story => must(story, "a case is told");
  const followed = ([, story]: readonly Story[]): Story => must(story, "a case is told twice");
  return [
    {
      name: "checks",
      prepare: async () => {
        const ask = checksOf(one);
        return async (told) => await ask(plain(told));
      },
    },
    {
      name: "checks of a former state",
      prepare: async () => {
        const ask = checksOf(lookBack);
        return async (told) => await ask(followed(told));
      },
    },
    {
      name: "permissions of a subject",
      prepare: async () => {
        const ask = subjectPermissionsOf(one);
        return async (told) => await ask(plain(told));
      },
    },
    {
      name: "lookups",
      prepare: async () => {
        const ask = lookupsOf(lookBack);
        return async (told) => await ask(followed(told));
      },
    },
    {
      name: "trees",
      prepare: async (sound) => {
        const ask = await treesOf(one, plain(sound));
        return async (told) => await ask(plain(told));
      },
    },
  ];
}

/** The rounds with schema and state named, as nothing later changes what they ask. */
function pinned({ rounds, schemas, writes }: LookupCase): readonly Round[] {
  return rounds.map((round) => ({
    ...round,
    schema: round.schema ?? schemas.length - 1,
    after: round.after ?? writes.length - 1,
  }));
}
