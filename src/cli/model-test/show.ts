import { styleText } from "node:util";

import { printable } from "../../base/printable.ts";
import type { Paint } from "../../model-test/report/human.ts";
import { say } from "../output.ts";

/** In colours if the terminal shows them. */
export const colours: Paint = (tone, text) =>
  styleText(tone === "good" ? "green" : "red", text, { stream: process.stdout });

/** Writes a line of the result, which may have texts of a file. */
export function show(text: string, tone?: "good" | "bad"): void {
  say(tone === undefined ? printable(text) : colours(tone, printable(text)));
}
