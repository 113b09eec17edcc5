import type { Completions } from "../../editor/complete.ts";
import type { NameHover } from "../../editor/hover.ts";
import type { AttributeAnswer, TupleAnswer } from "../api/data.ts";
import type { DrawnGraph } from "../graph/drawn-graph.ts";
import type { Inspected } from "./inspect.ts";
import type { AskedName, NamePlace, RenamedName, Renaming } from "./named-texts.ts";
import type { TestReport } from "./run-test.ts";

/** What is wrong with a line of facts. */
export interface LineProblem {
  readonly line: number;
  readonly message: string;
}

/** Facts that were read from a text, with the line of each, and what of it was not understood. */
export interface ReadFacts {
  readonly tuples: readonly TupleAnswer[];
  readonly attributes: readonly AttributeAnswer[];
  readonly lines: {
    readonly tuples: readonly number[];
    readonly attributes: readonly number[];
  };
  readonly problems: readonly LineProblem[];
}

/** What a worker does: the input and the output of each job. All of it can be copied between threads. */
export interface Jobs {
  /** Finds faults of a schema, lints it, and lists its names. */
  readonly inspect: readonly [input: { readonly text: string }, output: Inspected];
  /** What can be written at an offset of a text, which may have faults. */
  readonly complete: readonly [input: AskedName, output: Completions];
  /** What the name at an offset is. */
  readonly hover: readonly [input: AskedName, output: NameHover | undefined];
  /** Where the name at an offset is declared. */
  readonly definitions: readonly [input: AskedName, output: readonly NamePlace[]];
  /** Where the name at an offset stands, with its declaration. */
  readonly references: readonly [input: AskedName, output: readonly NamePlace[]];
  /** The name at an offset, if it can be renamed. */
  readonly renamable: readonly [input: AskedName, output: RenamedName];
  /** Renames the name at an offset in both texts. */
  readonly rename: readonly [input: AskedName & { readonly newName: string }, output: Renaming];
  /** Lays out the graph of a schema. Fails if it is none. */
  readonly draw: readonly [input: { readonly text: string }, output: DrawnGraph];
  readonly format: readonly [input: { readonly text: string }, output: string];
  /** Prints the plan and the SQL of a check. */
  readonly plan: readonly [
    input: {
      readonly text: string;
      readonly entityType: string;
      readonly permission: string;
      readonly subjectType: string;
      readonly subjectRelation: string;
    },
    output: string,
  ];
  /** Reads text notation, a fact a line. */
  readonly readLines: readonly [input: { readonly text: string }, output: ReadFacts];
  /** Reads the facts of a model test. */
  readonly readTestData: readonly [input: { readonly text: string }, output: ReadFacts];
  /** Runs a model test on the schema, in memory. */
  readonly test: readonly [
    input: { readonly schema: string; readonly test: string },
    output: TestReport,
  ];
}

export type JobName = keyof Jobs;
export type JobInput<Name extends JobName> = Jobs[Name][0];
export type JobOutput<Name extends JobName> = Jobs[Name][1];

/** A job that a worker is to do. */
export interface JobRequest {
  readonly kind: "do";
  readonly id: number;
  readonly name: JobName;
  readonly input: unknown;
}

/** What is sent to a worker. The output of a job that is dropped is not needed any more. */
export type JobMessage = JobRequest | { readonly kind: "drop"; readonly id: number };

/** What a worker answers. */
export type JobReply =
  | { readonly id: number; readonly kind: "done"; readonly output: unknown }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };
