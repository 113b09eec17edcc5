import type { Fetched } from "../../app/use-load.ts";
import { useLoad } from "../../app/use-load.ts";
import type { SchemaHead } from "../model/head.ts";
import { type ReadQuestion, readQuestion, withFactLine, type WrittenQuestion } from "./question.ts";

/** What each view of an answer is given. */
export interface AskedProps {
  readonly tenant: string;
  readonly head: SchemaHead | undefined;
  readonly question: WrittenQuestion;
}

/** An answer, and how long it took from here to the server and back. */
export interface TimedAnswer<T> {
  readonly answer: T;
  readonly milliseconds: number;
}

/** Reads the fields of a question and asks it. */
export function useAnswer<T>(
  question: WrittenQuestion,
  head: SchemaHead | undefined,
  ask: (question: ReadQuestion, signal: AbortSignal) => Promise<T>,
): { readonly loaded: Fetched<TimedAnswer<T>>; readonly reload: () => void } {
  return useLoad(
    async (signal) => {
      const read = await readQuestion(question, head?.version ?? "");
      const start = performance.now();
      const answer = await ask(read, signal).catch(async (error: unknown) => {
        throw await withFactLine(error, question);
      });
      return { answer, milliseconds: performance.now() - start };
    },
    [JSON.stringify(question), head?.version],
  );
}
