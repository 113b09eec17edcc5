import type { FlagKind } from "../../config/flags.ts";
import { type Command, loadAll } from "../command.ts";

/** What may stand behind the words of a command, such as `schema write`. */
export interface CompletedPlace {
  /** Names of commands and parts, in their order. None for the first word. */
  readonly path: readonly string[];
  /** With descriptions, which may be "". */
  readonly words: ReadonlyMap<string, string>;
  readonly flags: readonly CompletedFlag[];
  /** The name of a context may stand there. */
  readonly takesContext: boolean;
}

export interface CompletedFlag {
  readonly name: string;
  /** A value follows as a word of its own. */
  readonly takesValue: boolean;
}

/** Every place where something can be completed, the first word first. */
export async function placesOf(commands: readonly Command[]): Promise<readonly CompletedPlace[]> {
  const names = summaries(commands);
  const below = await Promise.all(commands.map(async (command) => await placesBelow([], command)));
  const helped = await Promise.all(commands.map(partsToHelp));
  return [
    wordsAt([], new Map([...names, ["help", "show a help text"]])),
    wordsAt(["help"], names),
    ...helped.flat(),
    ...below.flat(),
  ];
}

/** `pemba help` shows a part of a command as well. */
async function partsToHelp({ name, parts }: Command): Promise<readonly CompletedPlace[]> {
  if (parts === undefined) return [];
  return [wordsAt(["help", name], summaries(await loadAll(parts)))];
}

function wordsAt(path: readonly string[], words: ReadonlyMap<string, string>): CompletedPlace {
  return { path, words, flags: [], takesContext: false };
}

async function placesBelow(
  above: readonly string[],
  command: Command,
): Promise<readonly CompletedPlace[]> {
  const path = [...above, command.name];
  const parts = command.parts === undefined ? [] : await loadAll(command.parts);
  const below = await Promise.all(parts.map(async (part) => await placesBelow(path, part)));
  const own = (command.words ?? []).map((word) => [word, ""] as const);
  return [
    {
      path,
      words: new Map([...own, ...summaries(parts)]),
      flags: flagsOf(command.flags),
      takesContext: command.takesContext === true,
    },
    ...below.flat(),
  ];
}

function summaries(commands: readonly Command[]): ReadonlyMap<string, string> {
  return new Map(commands.map(({ name, summary }) => [name, summary]));
}

function flagsOf(flags: ReadonlyMap<string, FlagKind>): readonly CompletedFlag[] {
  const own = [...flags].map(([name, { bare }]) => ({ name, takesValue: bare === undefined }));
  return [...own, { name: "help", takesValue: false }];
}

/** A path as the scripts compare it: each word behind a blank. */
export function pathText(path: readonly string[]): string {
  return path.map((word) => ` ${word}`).join("");
}

/**
 * A program for `sed` that prints the names in the file of the contexts. The shells read the file themselves:
 * to start Node takes a moment.
 */
export const contextNames = String.raw`s/^ *"name": "\([A-Za-z0-9_.-]*\)",*$/\1/p`;
