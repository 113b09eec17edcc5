import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";

/** A file of the console, as it is and compressed. */
export interface ConsoleFile {
  readonly contentType: string;
  /** Reads it in one of the codings that the client accepts. */
  read(acceptEncoding: string | undefined): Promise<EncodedFile>;
}

export interface EncodedFile {
  readonly content: Buffer;
  /** Undefined: it is not compressed. */
  readonly coding: string | undefined;
}

/** The page and the files that it loads, by their names. */
export interface ConsoleFiles {
  readonly page: ConsoleFile;
  readonly assets: ReadonlyMap<string, ConsoleFile>;
}

const contentTypes: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".json", "application/json"],
  [".css", "text/css; charset=utf-8"],
]);

/** Smallest first. */
const codings = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
] as const;

/** Beside this module in a build, else in the build of the console alone. */
const folders = ["../../console", "../../../dist/console"];

/** Finds the files of the console. Undefined if it is not built. */
export function findConsoleFiles(): ConsoleFiles | undefined {
  const folder = folders
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(join(path, "index.html")));
  if (folder === undefined) return undefined;
  const assets = join(folder, "assets");
  return {
    page: fileAt(join(folder, "index.html")),
    assets: new Map(
      readdirSync(assets)
        .filter((name) => contentTypes.has(extname(name)))
        .map((name) => [name, fileAt(join(assets, name))]),
    ),
  };
}

function fileAt(path: string): ConsoleFile {
  return {
    contentType: contentTypes.get(extname(path)) ?? "application/octet-stream",
    async read(acceptEncoding) {
      const coding = codings.find(({ name }) => accepts(acceptEncoding, name));
      return { content: await readFile(`${path}${coding?.ending ?? ""}`), coding: coding?.name };
    },
  };
}

/** Whether a header such as `gzip, br;q=0.5, zstd;q=0` takes the coding. */
function accepts(header: string | undefined, coding: string): boolean {
  return (header ?? "").split(",").some((part) => {
    const [name, ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    return name === coding && !parameters.some((text) => /^q=0(\.0*)?$/.test(text));
  });
}
