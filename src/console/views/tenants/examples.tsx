import type { VNode } from "preact";

import { goTo } from "../../app/place.ts";
import { useLoad } from "../../app/use-load.ts";
import { Problem } from "../../ui/problem.tsx";
import { useAction } from "../../ui/use-action.ts";
import { type ExampleModel, loadExample, readExamples } from "./load-example.ts";

/** Models that can be loaded into a new tenant, with data and tests. */
export function Examples({ onLoaded }: { readonly onLoaded: () => void }): VNode {
  const { loaded, reload } = useLoad(readExamples, []);
  const { run, isRunning, error } = useAction();
  const load = (example: ExampleModel): void =>
    run(async () => {
      const tenant = await loadExample(example);
      onLoaded();
      goTo(tenant, "model");
    });
  return (
    <section class="stack" aria-labelledby="examples">
      <div>
        <h2 id="examples">Examples</h2>
        <p class="muted">Each is a model with data and a test. It goes into a new tenant.</p>
      </div>
      {error !== undefined && <Problem error={error} />}
      {loaded.kind === "failed" && <Problem error={loaded.error} retry={reload} />}
      {loaded.kind === "ready" && (
        <ul class="cards">
          {loaded.value.map((example) => (
            <li key={example.name} class="panel card">
              <h3>{example.name.replaceAll("-", " ")}</h3>
              <p class="muted">{example.about}</p>
              <button
                type="button"
                class="button"
                disabled={isRunning}
                aria-label={`Load the example ${example.name}`}
                onClick={() => load(example)}
              >
                Load
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
