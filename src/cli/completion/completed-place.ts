import type { FlagKind } from "../../config/flags.ts";
import type { Command } from "../command.ts";

/** What may stand behind the words of a command, such as `schema write`. */
export interface CompletedPlace {
  /** Names of commands and parts, in their order. None for the first word. */
  readonly path: readonly string[];
  /** With descriptions, which may be "". */
  readonly words: ReadonlyMap<string, string>;
  readonly flags: readonly CompletedFlag[];
}

export interface CompletedFlag {
  readonly name: string;
  /** A value follows as a word of its own. */
  readonly takesValue: boolean;
}

/** Every place where something can be completed, the first word first. */
export function placesOf(commands: readonly Command[]): readonly CompletedPlace[] {
  const names = summaries(commands);
  return [
    { path: [], words: new Map([...names, ["help", "show a help text"]]), flags: [] },
    { path: ["help"], words: names, flags: [] },
    ...commands.flatMap((command) => placesBelow([], command)),
  ];
}

function placesBelow(above: readonly string[], command: Command): readonly CompletedPlace[] {
  const path = [...above, command.name];
  const parts = [...(command.parts?.values() ?? [])];
  const own = (command.words ?? []).map((word) => [word, ""] as const);
  return [
    { path, words: new Map([...own, ...summaries(parts)]), flags: flagsOf(command.flags) },
    ...parts.flatMap((part) => placesBelow(path, part)),
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
