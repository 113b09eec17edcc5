import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..", "..");
const room = join(root, "src/editor");

/** What a file loads: paths of ours, and names of packages. Imports of types load nothing. */
function loadedBy(path: string): readonly string[] {
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(/^(?:import|export) (?!type )(?:[^;"]*? from )?"([^"]+)";$/gm)].map(
    ([, target = ""]) => (target.startsWith(".") ? resolve(path, "..", target) : target),
  );
}

/** Every file and package that the room loads, each with the file that loads it. */
function everythingLoaded(): ReadonlyMap<string, string> {
  const loaded = new Map<string, string>();
  const left = readdirSync(room)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(room, name));
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    for (const target of loadedBy(path)) {
      if (loaded.has(target)) continue;
      loaded.set(target, relative(root, path));
      if (target.startsWith(root)) left.push(target);
    }
  }
  return loaded;
}

test("what the editor loads needs no module and no global of Node", () => {
  const loaded = everythingLoaded();
  const modules = [...loaded].filter(
    ([target]) => target.startsWith("node:") || builtinModules.includes(target),
  );
  assert.deepEqual(modules, []);
  const globals = [...loaded.keys()]
    .filter((target) => target.startsWith(root))
    .filter((path) => {
      const code = readFileSync(path, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
      return /\b(?:Buffer|process|setImmediate|require|__dirname)\b[.(]/.test(code);
    });
  assert.deepEqual(globals, []);
  assert.ok(loaded.has(join(root, "src/language/compile.ts")));
});
