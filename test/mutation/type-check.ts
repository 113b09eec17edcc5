import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { applied, type Mutant } from "./mutant.ts";

type Checked = Pick<Mutant, "key" | "file" | "start" | "end" | "text" | "operator">;

/**
 * The keys of those that the type checker refuses: such a fault cannot be committed. Each mutant is a
 * file of its own beside the original, so that one run of the checker says it of all. A file whose
 * plain copy is refused, as one of its classes would be, lets everything through.
 */
export async function refusedByTypes(
  root: string,
  sources: ReadonlyMap<string, string>,
  mutants: readonly Checked[],
): Promise<ReadonlySet<string>> {
  const folder = await mkdtemp(join(tmpdir(), "pemba-mutants-"));
  try {
    await cp(join(root, "src"), join(folder, "src"), { recursive: true });
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const files: string[] = [];
    const copy = async (file: string, name: string, text: string): Promise<void> => {
      const path = file.replace(/\.ts$/, `.${name}.ts`);
      files.push(path);
      await writeFile(join(folder, path), text);
    };
    const touched = new Set(mutants.map(({ file }) => file));
    await mkdir(folder, { recursive: true });
    for (const file of touched) await copy(file, "plain", sources.get(file) ?? "");
    for (const mutant of mutants) {
      const source = sources.get(mutant.file) ?? "";
      const text = applied(source, mutant, { start: 0, end: source.length });
      await copy(mutant.file, mutant.key, text);
    }
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: join(root, "tsconfig.json"),
        compilerOptions: {
          rootDir: ".",
          noUnusedLocals: false,
          noUnusedParameters: false,
          allowUnreachableCode: true,
        },
        files,
        include: [],
      }),
    );
    const refused = new Set<string>();
    for (const line of (await runChecker(root, folder)).split("\n")) {
      const [, file, name] = /^(src\/.*)\.(\w+)\.ts\(\d+,\d+\): error/.exec(line) ?? [];
      if (file !== undefined && name !== undefined) refused.add(`${file}.ts ${name}`);
    }
    const keys = mutants
      .filter(({ file, key }) => refused.has(`${file} ${key}`) && !refused.has(`${file} plain`))
      .map(({ key }) => key);
    return new Set(keys);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function runChecker(root: string, folder: string): Promise<string> {
  const tsc = join(root, "node_modules", "typescript", "lib", "tsc.js");
  const { promise, resolve } = Promise.withResolvers<string>();
  const options = { cwd: folder, maxBuffer: 1024 ** 3 };
  execFile(process.execPath, [tsc, "-p", folder, "--pretty", "false"], options, (_error, stdout) =>
    resolve(stdout),
  );
  return await promise;
}
