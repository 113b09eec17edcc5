import { hash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { build, type RolldownOptions } from "rolldown";

/*
 * Builds the console from src/console to dist/console: a page, and files whose names hold a digest of
 * their content. Each is there three times: as it is, for gzip and for brotli, so that no request waits for
 * a compression.
 */

const root = join(import.meta.dirname, "..");
const source = join(root, "src/console");
const finished = join(root, "dist/console");
/** What is served is replaced at once, when all of the new one is there. */
const target = join(root, `dist/console-${process.pid}`);
const assets = join(target, "assets");

mkdirSync(assets, { recursive: true });
const worker = await bundle("worker", join(source, "worker/worker.ts"));
const main = await bundle("main", join(source, "main.tsx"));
const style = writeStyle();
const examples = writeExamples();
writePage({ main, worker, style, examples });
replaceFinished();

/**
 * In two renamings, so that a server that is asked meanwhile misses nothing for long. If the same is there already, it
 * stays, and no server misses anything. Another process may replace it at the same moment.
 */
function replaceFinished(): void {
  const former = `${target}-former`;
  while (!isFinished()) {
    try {
      if (existsSync(finished)) renameSync(finished, former);
      renameSync(target, finished);
      rmSync(former, { recursive: true, force: true });
      return;
    } catch (error) {
      if (!isReplacedMeanwhile(error) || !existsSync(target)) throw error;
      rmSync(former, { recursive: true, force: true });
    }
  }
  rmSync(target, { recursive: true });
  const now = new Date();
  utimesSync(join(finished, "index.html"), now, now);
}

/** Whether what was built is there already. */
function isFinished(): boolean {
  try {
    return contentOf(finished) === contentOf(target);
  } catch (error) {
    if (isReplacedMeanwhile(error)) return false;
    throw error;
  }
}

function isReplacedMeanwhile(error: unknown): boolean {
  const codes = ["ENOENT", "ENOTEMPTY", "EEXIST"];
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** A text that differs when the content does: the names of the files hold digests. */
function contentOf(folder: string): string {
  const names = readdirSync(join(folder, "assets")).toSorted();
  return [readFileSync(join(folder, "index.html"), "utf8"), ...names].join("\n");
}

/** Bundles a module with all that it imports. Returns the name of the file that holds it. */
async function bundle(name: string, input: string): Promise<string> {
  const platform = join(source, "platform");
  const options: RolldownOptions = {
    input: { [name]: input },
    platform: "browser",
    tsconfig: join(source, "tsconfig.json"),
    resolve: {
      // What the engine in memory asks of Node, for browsers.
      alias: {
        "node:async_hooks": join(platform, "async-hooks.ts"),
        "node:crypto": join(platform, "crypto.ts"),
        "node:perf_hooks": join(platform, "perf-hooks.ts"),
        "node:timers/promises": join(platform, "timers.ts"),
      },
    },
    transform: {
      inject: {
        Buffer: [join(platform, "buffer.ts"), "Buffer"],
        setImmediate: [join(platform, "immediate.ts"), "setImmediate"],
      },
    },
    onLog(_level, log) {
      throw new Error(log.message);
    },
  };
  const { output } = await build({
    ...options,
    output: {
      dir: assets,
      format: "es",
      minify: true,
      entryFileNames: "[name]-[hash].js",
      chunkFileNames: "[name]-[hash].js",
    },
  });
  for (const chunk of output) compress(join(assets, chunk.fileName));
  const [entry] = output;
  return entry.fileName;
}

/** The style sheets in the order of their names, as one. */
function writeStyle(): string {
  const folder = join(source, "style");
  const text = readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
  return writeAsset("style", ".css", text);
}

/** The models of examples/models with their tests, which a user can load. */
function writeExamples(): string {
  const folder = join(root, "examples/models");
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const examples = readdirSync(folder)
    .filter((name) => name.endsWith(".perm"))
    .toSorted()
    .map((file) => {
      const name = file.replace(/\.perm$/, "");
      const schema = read(file);
      // The first comment says what the model is about.
      const about = /^(?:\/\/.*\n)+/.exec(schema)?.[0].replaceAll(/^\/\/ ?|\n$/gm, "") ?? "";
      return { name, about: about.replaceAll("\n", " "), schema, test: read(`${name}.yaml`) };
    });
  return writeAsset("examples", ".json", JSON.stringify(examples));
}

/** Writes a text to a file with a digest in its name, which it returns. */
function writeAsset(name: string, ending: string, text: string): string {
  const file = `${name}-${hash("sha256", text, "hex").slice(0, 8)}${ending}`;
  writeCompressed(join(assets, file), text);
  return file;
}

/** All addresses are relative, so that the page also works behind a prefix. */
function writePage(files: {
  readonly main: string;
  readonly worker: string;
  readonly style: string;
  readonly examples: string;
}): void {
  const text = readFileSync(join(source, "page.html"), "utf8").replaceAll(
    /\{(main|worker|style|examples)\}/g,
    (_, name: "main" | "worker" | "style" | "examples") => files[name],
  );
  writeCompressed(join(target, "index.html"), text);
}

function writeCompressed(path: string, text: string): void {
  writeFileSync(path, text);
  compress(path);
}

function compress(path: string): void {
  const content = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
}
