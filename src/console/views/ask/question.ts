import { ApiError } from "../../api/api-error.ts";
import type { EntityRef, AskedFrame, SubjectRef } from "../../api/permissions.ts";
import { type ReadReference, parseEntity, parseSubject } from "../../api/reference.ts";
import { schemaWorker } from "../../worker/client.ts";
import type { LineProblem } from "../../worker/jobs.ts";
import { refusedLines } from "../data/refused-lines.ts";

export const modes = ["check", "subjects", "entities", "all"] as const;

export type Mode = (typeof modes)[number];

/** A question as its fields are written, which is how the address keeps it. */
export interface WrittenQuestion {
  readonly mode: Mode;
  readonly subject: string;
  readonly permission: string;
  readonly entity: string;
  /** The type that a lookup is for: of the entities, or of the subjects with a relation. */
  readonly of: string;
  /** JSON for `context.data`, or "". */
  readonly data: string;
  /** Facts in text notation, a line each, or "". */
  readonly facts: string;
  readonly snap: string;
  readonly depth: string;
}

export type QuestionField = Exclude<keyof WrittenQuestion, "mode">;

/** How fields are called, and an example of each. */
export const fieldLabels: Readonly<
  Record<QuestionField, readonly [label: string, example: string]>
> = {
  subject: ["Subject", "user:ada"],
  permission: ["Permission", "view"],
  entity: ["Entity", "document:plan"],
  of: ["Type", "user"],
  data: ["Data that rules see", '{"hour": 9}'],
  facts: ["Facts for this question alone, one a line", "document:plan#viewer@user:ada"],
  snap: ["Snap token", "empty for the newest state"],
  depth: ["Depth", "100"],
};

export const questionFields = Object.keys(fieldLabels) as readonly QuestionField[];

/** The fields of each mode, in their order. */
export const fieldsOf: Readonly<Record<Mode, readonly QuestionField[]>> = {
  check: ["subject", "permission", "entity"],
  subjects: ["permission", "entity", "of"],
  entities: ["subject", "permission", "of"],
  all: ["subject", "entity"],
};

export function questionIn(state: ReadonlyMap<string, string>): WrittenQuestion {
  const at = (key: string): string => state.get(key) ?? "";
  return {
    mode: modes.find((mode) => mode === at("mode")) ?? "check",
    subject: at("subject"),
    permission: at("permission"),
    entity: at("entity"),
    of: at("of"),
    data: at("data"),
    facts: at("facts"),
    snap: at("snap"),
    depth: at("depth"),
  };
}

/** Whether the fields of its mode are filled in, so that it can be asked. */
export function isComplete(question: WrittenQuestion): boolean {
  return fieldsOf[question.mode].every((field) => question[field].trim() !== "");
}

/** A question that can be sent. */
export type ReadQuestion = AskedFrame &
  (
    | {
        readonly mode: "check";
        readonly entity: EntityRef;
        readonly permission: string;
        readonly subject: SubjectRef;
      }
    | {
        readonly mode: "subjects";
        readonly entity: EntityRef;
        readonly permission: string;
        readonly subject_reference: { readonly type: string; readonly relation: string };
      }
    | {
        readonly mode: "entities";
        readonly entity_type: string;
        readonly permission: string;
        readonly subject: SubjectRef;
      }
    | { readonly mode: "all"; readonly entity: EntityRef; readonly subject: SubjectRef }
  );

/** The error of a field that was not understood, which begins with its label. */
function fieldError(field: QuestionField, message: string): Error {
  return new Error(`${fieldLabels[field][0]}: ${message}`);
}

/** Reads the fields. Fails with the label of the first that is not understood. `version` is the schema that positions are of. */
export async function readQuestion(
  question: WrittenQuestion,
  version: string,
): Promise<ReadQuestion> {
  const frame = await frameOf(question, version);
  const permission = question.permission.trim();
  switch (question.mode) {
    case "check":
      return { ...frame, mode: "check", ...entityAndSubject(question), permission };
    case "subjects": {
      const [type = "", relation = ""] = question.of.trim().split("#", 2);
      const entity = valueOf("entity", parseEntity(question.entity));
      const reference = { type, relation };
      return { ...frame, mode: "subjects", entity, permission, subject_reference: reference };
    }
    case "entities": {
      const subject = valueOf("subject", parseSubject(question.subject));
      const entityType = question.of.trim();
      return { ...frame, mode: "entities", entity_type: entityType, permission, subject };
    }
    case "all":
      return { ...frame, mode: "all", ...entityAndSubject(question) };
  }
}

/** An error that names a fact of the question by its line. Any other error is returned as it is. */
export async function withFactLine(error: unknown, { facts }: WrittenQuestion): Promise<unknown> {
  if (!(error instanceof ApiError) || facts === "") return error;
  const { lines } = await schemaWorker.ask("readLines", { text: facts });
  const [refused] = refusedLines(error, lines);
  return refused === undefined ? error : factError(refused);
}

function factError({ line, message }: LineProblem): Error {
  return fieldError("facts", `line ${line}: ${message}`);
}

function entityAndSubject({ entity, subject }: WrittenQuestion): {
  readonly entity: EntityRef;
  readonly subject: SubjectRef;
} {
  return {
    subject: valueOf("subject", parseSubject(subject)),
    entity: valueOf("entity", parseEntity(entity)),
  };
}

async function frameOf(question: WrittenQuestion, version: string): Promise<AskedFrame> {
  const { data, facts, snap, depth } = question;
  const read = await schemaWorker.ask("readLines", { text: facts });
  const [problem] = read.problems;
  if (problem !== undefined) throw factError(problem);
  const context = {
    tuples: read.tuples,
    attributes: read.attributes,
    ...(data.trim() !== "" && { data: objectOf(data) }),
  };
  return {
    metadata: {
      ...(snap.trim() !== "" && { snap_token: snap.trim() }),
      ...(version !== "" && { schema_version: version }),
      ...(depth.trim() !== "" && { depth: depthOf(depth) }),
    },
    context,
  };
}

function depthOf(text: string): number {
  const depth = Number(text);
  if (!Number.isInteger(depth) || depth < 1) throw fieldError("depth", "expected a number from 1");
  return depth;
}

function objectOf(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fieldError("data", error instanceof Error ? error.message : "no JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw fieldError("data", 'expected an object, such as {"hour": 9}');
}

function valueOf<T>(field: QuestionField, read: ReadReference<T>): T {
  if (read.kind === "wrong") throw fieldError(field, read.message);
  return read.value;
}
