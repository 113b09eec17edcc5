import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useAction } from "../../ui/use-action.ts";
import { schemaWorker } from "../../worker/client.ts";
import type { LineProblem } from "../../worker/jobs.ts";
import { writeFacts } from "./write-facts.ts";

/** Larger files are for the command line, which reads them as a stream. */
const fileMaxBytes = 4 * 1024 * 1024;

/** Writes facts that are typed, or that a file has. */
export function AddFacts({
  tenant,
  onClose,
  onAdded,
}: {
  readonly tenant: string;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}): VNode {
  const [text, setText] = useState("");
  const [problems, setProblems] = useState<readonly LineProblem[]>([]);
  const { run, isRunning, error } = useAction();
  const take = (file: File | undefined): void => {
    if (file === undefined) return;
    run(async () => {
      setText(await textOf(file));
      setProblems([]);
    });
  };
  const add = (): void =>
    run(async () => {
      const read = await schemaWorker.ask(isModelTest(text) ? "readTestData" : "readLines", {
        text,
      });
      setProblems(read.problems);
      if (read.problems.length > 0) return;
      const refused = await writeFacts(tenant, read);
      setProblems(refused);
      if (refused.length === 0) onAdded();
    });
  return (
    <Dialog title="Add tuples and attributes" onClose={onClose}>
      <form
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          take(event.dataTransfer?.files[0]);
        }}
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <FactsField text={text} onText={setText} onFile={take} />
        <LineProblems problems={problems} />
        {error !== undefined && <Problem error={error} />}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isRunning || text.trim() === ""}>
            Add
          </button>
        </div>
      </form>
    </Dialog>
  );
}

async function textOf(file: File): Promise<string> {
  if (file.size > fileMaxBytes) {
    throw new Error("the file has more than 4 MiB, use `pemba import` for it");
  }
  return await file.text();
}

function FactsField({
  text,
  onText,
  onFile,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onFile: (file: File | undefined) => void;
}): VNode {
  return (
    <>
      <label class="field">
        <span class="label">Facts, one a line</span>
        <textarea
          class="input"
          rows={10}
          spellcheck={false}
          placeholder={"document:plan#viewer@user:ada\ndocument:plan$public|boolean:true"}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
        <span class="hint">You can also drop a file here: lines like these, or a model test.</span>
      </label>
      <input
        type="file"
        aria-label="A file with facts"
        onChange={(event) => onFile(event.currentTarget.files?.[0])}
      />
    </>
  );
}

function LineProblems({ problems }: { readonly problems: readonly LineProblem[] }): VNode | null {
  if (problems.length === 0) return null;
  return (
    <div class="notice bad" role="alert">
      <ul>
        {problems.map(({ line, message }) => (
          <li key={`${line} ${message}`}>
            Line {line}: <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Lines of facts never begin with such a key. */
function isModelTest(text: string): boolean {
  return /^(?:schema|relationships|attributes|scenarios):/m.test(text);
}
