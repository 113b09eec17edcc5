import fc from "fast-check";

import { casesOfSeed } from "../differential/fixed-cases.ts";
import { anyLookupCase } from "../differential/generate-lookup.ts";
import type { LookupCase } from "../differential/lookup-case.ts";
import { keptCases } from "../differential/regression-cases.ts";
import { roundsForms, roundsScene } from "./rounds-scene.ts";
import { rulesScene } from "./rules-scene.ts";
import { stepsScene } from "./steps-scene.ts";
import type { EngineName, Form, Scene, Trial } from "./trial.ts";

/** What all trials hang on. */
export interface TrialOptions {
  /** The seed of the cases, which is not that of the sample: other faults are asked the same. */
  readonly seed: number;
  /** How many cases there are of each sort. */
  readonly count: number;
  /** The database of the run. */
  readonly url: string;
}

/** Of a trial. */
const rulesAsked = 30;

interface Asked {
  readonly scene: Scene;
  readonly forms: readonly Form[];
}

/**
 * What the mutants are asked: the kept regressions, and as many random cases of rounds (with depths,
 * scopes, pages and several schemas), of steps (everything in every form) and of sets of rules.
 */
export function trialsOf({ seed, count, url }: TrialOptions): readonly Trial[] {
  const scenes = [
    ...keptCases().map((kept) =>
      ofRounds(kept.file, { scopes: [{}], pageSizes: [1, 2], meanwhile: [], ...kept }),
    ),
    ...casesOfSeed(seed, count).map((one, place) => stepsScene(`steps ${place}`, one)),
    ...fc
      .sample(anyLookupCase, { seed, numRuns: count })
      .map((one, place) => ofRounds(`rounds ${place}`, one)),
  ];
  const rules = Array.from({ length: count }, (_, place) =>
    rulesScene(`rules ${place}`, { seed: seed * count + place, count: rulesAsked, url }),
  );
  return [
    ...scenes.flatMap((asked) => [...trialsOn("memory", asked), ...trialsOn("postgres", asked)]),
    ...rules.flatMap((asked) => trialsOn("postgres", asked)),
  ].map((trial, id) => ({ ...trial, id }));
}

function trialsOn(engine: EngineName, { scene, forms }: Asked): readonly Omit<Trial, "id">[] {
  return forms.map((form) => ({
    name: `${scene.name}, ${form.name}, ${engine}`,
    scene,
    form,
    engine,
  }));
}

function ofRounds(name: string, one: LookupCase): Asked {
  return { scene: roundsScene(name, one), forms: roundsForms(one) };
}
