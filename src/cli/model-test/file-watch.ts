import { existsSync, type FSWatcher, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";

/** Editors write a file in several steps. */
const quietMs = 50;

/** Tells of changes of files. It watches their folders, because editors replace files. */
export class FileWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  #names: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #change = Promise.withResolvers<void>();

  /** Watches these files from now on, and no others. */
  follow(paths: readonly string[]): void {
    const files = paths.map((path) => resolve(path));
    this.#names = new Set(files);
    const folders = new Set(files.map((file) => dirname(file)));
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) {
      // A file may be named whose folder is not there.
      if (this.#watchers.has(folder) || !existsSync(folder)) continue;
      this.#watchers.set(folder, this.#open(folder));
    }
  }

  /** Resolves when a file has changed since the last call. */
  async changed(): Promise<void> {
    await this.#change.promise;
    this.#change = Promise.withResolvers();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #open(folder: string): FSWatcher {
    const watcher = watch(folder, (_event, name) => {
      // Some systems do not say which file it is.
      if (name !== null && !this.#names.has(resolve(folder, basename(name)))) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#change.resolve(), quietMs);
    });
    // The folder is gone: the next run says that its files cannot be read.
    watcher.on("error", () => this.#change.resolve());
    return watcher;
  }
}
