import { realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { quote } from "../../base/quote.ts";
import { fileBytesMax, readWholeFile } from "../../base/read-file.ts";
import { isSchemaItself } from "../../model-test/file/written-schema.ts";
import { messageOf } from "../output.ts";
import { whyUnreadable } from "../unreadable.ts";

/** A text from a file or an address, or why there is none. */
export type LoadedText =
  | {
      readonly kind: "text";
      readonly text: string;
      /** The file that it was read from. Undefined for an address. */
      readonly path: string | undefined;
    }
  | { readonly kind: "problem"; readonly problem: string };

/** How long an address may take for all of its answer. */
const fetchTimeoutMs = 30_000;

/** Reads what an argument names: a path, or an address with `file`, `http` or `https`. */
export async function loadText(location: string): Promise<LoadedText> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location)?.[1]?.toLowerCase();
  if (scheme === undefined) return readText(location);
  if (scheme === "http" || scheme === "https") return await fetchText(location);
  if (scheme !== "file") {
    return problem(
      `${quote(location)} cannot be read, expected a path or an address with file, http or https`,
    );
  }
  try {
    return readText(fileURLToPath(location));
  } catch (error) {
    return problem(`${quote(location)}: ${messageOf(error)}`);
  }
}

/**
 * Reads what a value of `schema` names. Undefined if it names nothing: then it is the schema itself. A
 * path is relative to one of the folders, of which the first that has the file counts, and may not leave
 * it.
 */
export async function loadSchemaText(
  value: string,
  folders: readonly string[],
): Promise<LoadedText | undefined> {
  if (isSchemaItself(value)) return undefined;
  const location = value.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):\/\/[^/]/i.exec(location)?.[1]?.toLowerCase();
  if (scheme === "http" || scheme === "https") return await fetchText(location);
  if (scheme !== undefined) {
    return problem(`invalid URL scheme: ${quote(location)}, expected http or https`);
  }
  if (isOutside(location)) {
    return problem(`invalid file path: ${quote(location)} is not below the folder of the file`);
  }
  for (const folder of folders) {
    const path = resolve(folder, location);
    if (statSync(path, { throwIfNoEntry: false }) === undefined) continue;
    if (!isBelow(realpathSync(path), realpathSync(folder))) {
      return problem(`invalid file path: ${quote(location)} leads out of its folder`);
    }
    return readText(path);
  }
  return problem(
    `there is no file ${quote(location)}, and it is not a schema: a schema has entities`,
  );
}

/** Where {@link loadSchemaText} looks for a file. What it finds may be another one when one of them changes. */
export function schemaPaths(value: string, folders: readonly string[]): readonly string[] {
  const location = value.trim();
  const isFile = !isSchemaItself(value) && !location.includes("://") && !isOutside(location);
  return isFile ? folders.map((folder) => resolve(folder, location)) : [];
}

function isOutside(location: string): boolean {
  return isAbsolute(location) || location.split(/[/\\]/).includes("..");
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function readText(path: string): LoadedText {
  try {
    return { ...decoded(readWholeFile(path), path), path };
  } catch (error) {
    return problem(`${quote(path)} ${whyUnreadable(error)}`);
  }
}

async function fetchText(address: string): Promise<LoadedText> {
  try {
    const signal = AbortSignal.timeout(fetchTimeoutMs);
    const response = await fetch(rawAddress(address), { signal });
    if (!response.ok) return problem(`${quote(address)} answers with status ${response.status}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > fileBytesMax) {
        return problem(`${quote(address)} is larger than ${fileBytesMax} bytes`);
      }
      chunks.push(chunk);
    }
    return decoded(Buffer.concat(chunks), address);
  } catch (error) {
    return problem(`${quote(address)} cannot be read: ${messageOf(error)}`);
  }
}

/** The page of a gist is not its text. */
function rawAddress(address: string): string {
  const url = new URL(address);
  if (url.hostname !== "gist.github.com") return address;
  url.hostname = "gist.githubusercontent.com";
  url.pathname += "/raw";
  return url.href;
}

/** The decoder skips a byte order mark. */
function decoded(bytes: Buffer, name: string): LoadedText & { readonly kind: "text" } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { kind: "text", text, path: undefined };
  } catch (cause) {
    throw new Error(`${quote(name)} is not UTF-8`, { cause });
  }
}

function problem(text: string): LoadedText {
  return { kind: "problem", problem: text };
}
