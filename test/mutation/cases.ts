import fc from "fast-check";

import { casesOfSeed } from "../differential/fixed-cases.ts";
import { anyLookupCase } from "../differential/generate-lookup.ts";
import type { LookupCase } from "../differential/lookup-case.ts";
import { keptCases } from "../differential/regression-cases.ts";
import { roundsForms, roundsScene } from "./rounds-scene.ts";
import { stepsScene } from "./steps-scene.ts";
import type { EngineName, Form, Scene, Trial } from "./trial.ts";

/**
 * What the mutants are asked: the kept regressions, and as many random cases of one seed of rounds
 * (with depths, scopes, pages and several schemas) and of steps (everything in every form).
 */
export function trialsOf(seed: number, count: number): readonly Trial[] {
  const scenes = [
    ...keptCases().map((kept) =>
      ofRounds(kept.file, { scopes: [{}], pageSizes: [1, 2], meanwhile: [], ...kept }),
    ),
    ...casesOfSeed(seed, count).map((one, place) => stepsScene(`steps ${place}`, one)),
    ...fc
      .sample(anyLookupCase, { seed, numRuns: count })
      .map((one, place) => ofRounds(`rounds ${place}`, one)),
  ];
  const engines: readonly EngineName[] = ["memory", "postgres"];
  return scenes
    .flatMap(({ scene, forms }) =>
      engines.flatMap((engine) =>
        forms.map((form) => ({
          name: `${scene.name}, ${form.name}, ${engine}`,
          scene,
          form,
          engine,
        })),
      ),
    )
    .map((trial, id) => ({ ...trial, id }));
}

function ofRounds(
  name: string,
  one: LookupCase,
): { readonly scene: Scene; readonly forms: readonly Form[] } {
  return { scene: roundsScene(name, one), forms: roundsForms(one) };
}
