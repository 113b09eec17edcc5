import { must } from "../../src/base/assert.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { FixedCase } from "../differential/fixed-cases.ts";
import { faultOf, forget, tellOlderWrite } from "../differential/form-answers.ts";
import type { FormQuestion, FormsStep } from "../differential/form-questions.ts";
import { type Story, tell, tellWrite } from "../differential/story.ts";
import { firstFault, type Form, type Scene } from "./trial.ts";

/** A question, and how many changes are told before it. */
interface Placed {
  readonly question: FormQuestion;
  readonly changes: number;
}

const formNames: Readonly<Record<string, readonly FormQuestion["form"][]>> = {
  checks: ["bulk", "single"],
  "checks by context": ["by context", "half by context"],
  "pinned checks": ["pinned"],
  "shallow checks": ["shallow"],
  "checks of mistyped attributes": ["mistyped"],
  "permissions of a subject": ["permissions"],
  lookups: ["entities", "subjects"],
  "lookups by context": ["entities by context", "subjects by context"],
  trees: ["expand"],
};

/** A case of steps, with a tenant for each state that it asks about: each can be asked again. */
export function stepsScene(
  name: string,
  { schema: text, steps }: FixedCase,
): { readonly scene: Scene; readonly forms: readonly Form[] } {
  const scene: Scene = {
    name,
    tell: async (store) => {
      const changes = steps.filter(({ kind }) => kind !== "ask");
      const stories: Story[] = [];
      for (let told = 0; told <= changes.length; told += 1) {
        let story: Story = await tell(store, { schemas: [text], writes: [] });
        for (const change of changes.slice(0, told)) story = await toldOne(story, change, text);
        stories.push(story);
      }
      return stories;
    },
  };
  const forms = Object.entries(formNames).map(([form, kinds]): Form => ({
    name: form,
    prepare: async () => {
      const schema = compileSchemaText(text);
      const asked = placed(steps).filter(({ question }) => kinds.includes(question.form));
      return async (stories) =>
        await firstFault(asked, async ({ question, changes }) => {
          const story = must(stories[changes], "every state is told");
          const what = await faultOf(story, schema, question);
          return what === undefined ? undefined : `${question.form}: ${what}`;
        });
    },
  }));
  return { scene, forms };
}

async function toldOne(story: Story, step: FormsStep, schema: string): Promise<Story> {
  if (step.kind === "write") {
    return { ...story, tokens: [...story.tokens, await tellWrite(story, step.write)] };
  }
  if (step.kind === "older write") await tellOlderWrite(story, schema, step);
  if (step.kind === "delete") await forget(story, step.type);
  return story;
}

function placed(steps: readonly FormsStep[]): readonly Placed[] {
  let changes = 0;
  return steps.flatMap((step): readonly Placed[] => {
    if (step.kind === "ask") return [{ question: step.question, changes }];
    changes += 1;
    return [];
  });
}
