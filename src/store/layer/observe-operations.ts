import type { Telemetry } from "../../base/telemetry.ts";
import type { ChangeMessage } from "../change.ts";
import type { Layer } from "./layer.ts";
import { operations, type QuestionOperation } from "./operation.ts";

/** Measures what the store is asked, what it answers, and what that takes; undefined without telemetry. */
export function observeOperations(telemetry: Telemetry): Layer | undefined {
  if (!telemetry.isOn) return undefined;
  beginCounters(telemetry);
  return {
    question: async (operation, request, next) =>
      await measured(telemetry, operation, request, next),
    lookup: async (operation, request, next) => {
      const page = await measured(telemetry, operation, request, next);
      telemetry.event("page", { ids: operation.resultsOf(page)?.allowed ?? 0 });
      return page;
    },
    only: {
      "data.write": async (request, next) => {
        const [, { tuples, attributes }] = request;
        telemetry.record("pemba.write.size", tuples.length + attributes.length, {});
        return await next(request);
      },
      "data.change": async (request, next) => {
        const [, { tuples, attributes }] = request;
        telemetry.record("pemba.write.size", tuples.length + attributes.length, {});
        return await next(request);
      },
      "data.readTuples": async (request, next) =>
        await telemetry.tallied("read_tuples", async () => await next(request)),
      "data.readAttributes": async (request, next) =>
        await telemetry.tallied("read_attributes", async () => await next(request)),
      "changes.follow": async (request, next) => {
        const stream = await next(request);
        return { ...stream, messages: observed(stream.messages, telemetry) };
      },
    },
  };
}

/** Counters of questions are there, at zero, before the first question: a rate needs a start. */
function beginCounters(telemetry: Telemetry): void {
  for (const operation of Object.values(operations)) {
    if (operation.kind !== "question" && operation.kind !== "lookup") continue;
    for (const question of operation.names) {
      for (const answer of ["allowed", "denied"]) {
        telemetry.add("pemba.question.answers", 0, { question, answer });
      }
      if (operation.kind === "lookup") telemetry.add("pemba.lookup.candidates", 0, { question });
    }
  }
}

/** Has the time of the interpreter as a step of its own in the trace; undefined without telemetry. */
export function observeInterpreter({
  isOn,
  span,
}: Pick<Telemetry, "isOn" | "span">): Layer | undefined {
  if (!isOn) return undefined;
  return {
    question: async (_operation, request, next) =>
      await span("interpret", async () => await next(request)),
  };
}

async function measured<Request, Answer>(
  telemetry: Telemetry,
  operation: QuestionOperation<Request, Answer>,
  request: Request,
  next: (request: Request) => Promise<Answer>,
): Promise<Answer> {
  const question = operation.nameOf(request);
  const answer = await telemetry.tallied(question, async (tally) => {
    try {
      return await next(request);
    } finally {
      telemetry.record("pemba.question.statements", tally.statements, { question });
    }
  });
  const results = operation.resultsOf(answer);
  if (results !== undefined) {
    const { allowed, denied } = results;
    telemetry.record("pemba.question.items", allowed + denied, { question });
    count(allowed, "allowed");
    count(denied, "denied");
  }
  return answer;

  function count(answers: number, kind: "allowed" | "denied"): void {
    if (answers > 0) telemetry.add("pemba.question.answers", answers, { question, answer: kind });
  }
}

async function* observed(
  messages: AsyncIterable<ChangeMessage>,
  telemetry: Telemetry,
): AsyncGenerator<ChangeMessage> {
  for await (const message of messages) {
    telemetry.event("changes", { changes: message.changes.length });
    yield message;
  }
}
