import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { test } from "node:test";

import { mayImport, roomsOf } from "../scripts/rooms.ts";

/*
 * The rules of the code base that neither the type checker nor the linter sees. Each test collects
 * every breach, so that one run shows them all.
 */

const root = join(import.meta.dirname, "..");

/** Every file of the repository, by its path from the root; not what git ignores. */
const files = listFiles();
const sources = files.filter((path) => /^src\/.*\.tsx?$/.test(path) && !isGenerated(path));
const statements = files.filter((path) => /^sql\/.*\.sql$/.test(path));

const text = new Map<string, string>();

test("a file of src imports only from its own room and lower ones", () => {
  const breaches = sources.flatMap((path) => {
    const room = roomOf(path);
    if (room === "main") return [];
    const allowed = mayImport[room];
    if (allowed === undefined) return [`${path}: src/${room} is not in scripts/rooms.ts`];
    return importsOf(path)
      .map((target) => ({ target, to: roomOf(target) }))
      .filter(({ to }) => to !== room && !allowed.includes(to))
      .map(({ target }) => `${path} imports ${target}`);
  });
  assert.deepEqual(breaches, []);
});

for (const [folder, rooms] of Object.entries(roomsOf)) {
  test(`a file of ${folder} imports only from its own room and lower ones`, () => {
    const inside = (path: string): string => path.slice(folder.length + 1);
    const innerRoomOf = (path: string): string => inside(path).split("/", 1)[0] ?? "";
    const breaches = sources
      .filter((path) => path.startsWith(`${folder}/`) && inside(path).includes("/"))
      .flatMap((path) => {
        const room = innerRoomOf(path);
        const allowed = rooms[room];
        if (allowed === undefined) return [`${path}: ${room} is not in scripts/rooms.ts`];
        return importsOf(path)
          .filter((target) => target.startsWith(`${folder}/`))
          .filter(
            (target) => innerRoomOf(target) !== room && !allowed.includes(innerRoomOf(target)),
          )
          .map((target) => `${path} imports ${target}`);
      });
    assert.deepEqual(breaches, []);
  });
}

test("a layer of the store imports nothing of an engine", () => {
  const breaches = sources
    .filter((path) => path.startsWith("src/store/layer/"))
    .flatMap((path) =>
      importsOf(path)
        .filter((target) => /^src\/(store\/(memory|postgres)|memory|sql)\//.test(target))
        .map((target) => `${path} imports ${target}`),
    );
  assert.deepEqual(breaches, []);
});

test("a type of src has a name that no other type of src has", () => {
  const declared = /^(?:export )?(?:abstract )?(?:interface|type|class) (?<name>\w+)/gm;
  const byName = Map.groupBy(
    sources.flatMap((path) =>
      [...read(path).matchAll(declared)].map(({ groups }) => ({ name: groups?.["name"], path })),
    ),
    ({ name }) => name,
  );
  const shared = [...byName.values()].filter((declarations) => declarations.length > 1);
  assert.deepEqual(shared, []);
});

test("a file of src imports nothing of ours from outside src", () => {
  const breaches = sources.flatMap((path) =>
    importsOf(path)
      .filter((target) => !target.startsWith("src/"))
      .map((target) => `${path} imports ${target}`),
  );
  assert.deepEqual(breaches, []);
});

test("tests and benchmarks share test/data and test/support, and import nothing else of each other", () => {
  const isShared = (path: string): boolean =>
    /^test\/(data|support)\//.test(path) && !path.endsWith(".test.ts");
  const isAllowed = (path: string, target: string): boolean => {
    if (!/^(test|bench)\//.test(target) || isShared(target)) return true;
    if (isShared(path)) return false;
    return path.startsWith("bench/") === target.startsWith("bench/");
  };
  const code = files.filter((path) => /^(src|test|bench|scripts)\/.*\.tsx?$/.test(path));
  const breaches = code.flatMap((path) =>
    importsOf(path)
      .filter((target) => !isAllowed(path, target))
      .map((target) => `${path} imports ${target}`),
  );
  assert.deepEqual(breaches, []);
});

test("an example imports nothing of ours from outside its folder, so that it can be copied", () => {
  const breaches = files
    .filter((path) => /^examples\/.*\.ts$/.test(path))
    .flatMap((path) =>
      importsOf(path)
        .filter((target) => !target.startsWith(`${path.split("/", 2).join("/")}/`))
        .map((target) => `${path} imports ${target}`),
    );
  assert.deepEqual(breaches, []);
});

test("no file has a name that says nothing", () => {
  const names = /^(utils?|helpers?|common|lib|misc|types|interfaces|constants)\.[a-z.]+$/;
  const code = files.filter((path) => /^(src|test|bench|scripts|examples)\//.test(path));
  assert.deepEqual(
    code.filter((path) =>
      path.split("/").some((part) => names.test(part) || names.test(`${part}.x`)),
    ),
    [],
  );
});

test("files and folders are named in kebab-case", () => {
  const name = /^[a-z0-9]+(-[a-z0-9]+)*((\.long)?\.test)?\.(tsx?|sql)$/;
  const code = files.filter(
    (path) =>
      /^(src|test|bench|scripts|examples|sql)\/.*\.(tsx?|sql)$/.test(path) && !isGenerated(path),
  );
  assert.deepEqual(
    code.filter((path) => !name.test(basename(path))),
    [],
  );
});

test("a file of src has at most 300 lines, or says at its top why it is long", () => {
  const long = sources.filter((path) => {
    const lines = read(path).split("\n");
    const hasReason = lines.slice(0, 5).some((line) => line.startsWith("// Long because"));
    return lines.length - 1 > 300 && !hasReason;
  });
  assert.deepEqual(long, []);
});

test("src has no enum, no default export, no any and no silenced type error", () => {
  const forbidden =
    /^\s*(export )?(declare )?(const )?enum \w|^export default|:\s*any\s*(?:[;,)=\]>|&{[]|$)|\bas any\b|<any>|@ts-(ignore|nocheck|expect-error)/;
  assert.deepEqual(linesMatching(sources, forbidden), []);
});

test("no file names a path of somebody's machine or the host of a package registry", () => {
  // In parts, or this file would name them itself.
  const paths = ["work", "root", "farm", "Users"].map((name) => `(?<![\\w.])/${name}/`);
  const hosts = [
    "registry\\.npm" + "js",
    "npm" + "mirror",
    "deb\\.deb" + "ian",
    "files\\.python" + "hosted",
  ];
  const forbidden = new RegExp([...paths, ...hosts].join("|"));
  assert.deepEqual(linesMatching(files.filter(isText), forbidden), []);
});

test("the lockfile names no place to download from", () => {
  assert.doesNotMatch(read("package-lock.json"), /"resolved"|https?:\/\/[^"]*\.tgz/);
});

test("every package has its reason in docs/decisions/0002-dependencies.md", () => {
  const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
  const packages = Object.keys({ ...manifest["dependencies"], ...manifest["devDependencies"] });
  const reasons = read("docs/decisions/0002-dependencies.md");
  assert.deepEqual(
    packages.filter((name) => {
      // Packages of one project have one reason.
      const all = name.replace(/(?<=^@[^/]*\/).*/, "*");
      return ![name, all].some((spelling) => reasons.includes(`\`${spelling}\``));
    }),
    [],
  );
});

test("an SQL file holds one statement, with its keywords in lower case", () => {
  const upper =
    /\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|WITH|CREATE|RETURNING|VALUES|JOIN|AND|OR|NOT|EXISTS|UNION|ORDER|LIMIT|BEGIN|END|ON)\b/;
  const breaches = statements.flatMap((path) => {
    const code = withoutCommentsAndStrings(read(path));
    const outer = code.replaceAll(/(\$\w*\$)[\s\S]*?\1/g, "$1").trim();
    return [
      ...(upper.test(code) ? [`${path}: upper-case keyword ${upper.exec(code)?.[0]}`] : []),
      ...(/;[\s\S]*\S/.test(outer) ? [`${path}: more than one statement`] : []),
      ...(outer === "" ? [`${path}: no statement`] : []),
    ];
  });
  assert.deepEqual(breaches, []);
});

test("every SQL file is named in src", () => {
  const code = sources.map(read).join("\n");
  const unused = statements.filter((path) => {
    const name = path.replace(/^sql\//, "").replace(/\.sql$/, "");
    return !code.includes(`"${name}"`) && !code.includes(`${name}.sql`);
  });
  assert.deepEqual(unused, []);
});

test("outside src/sql no value is written into the text of a statement", () => {
  const start = String.raw`(?:select\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+(?:recursive\s+)?\w+\s+as\s|(?:create|alter|drop)\s+(?:table|index|database|role|schema|function)\s|set\s+(?:local|session)\s|(?:un)?listen\s)`;
  // A template without a tag before it, or a string that is added to.
  const template = new RegExp(String.raw`(?<![\w)\]>])\`\s*${start}[^\`]*\$\{`, "i");
  const sum = new RegExp(String.raw`"\s*${start}[^"\n]*"\s*\+`, "i");
  const breaches = sources
    .filter((path) => roomOf(path) !== "sql")
    .filter((path) => template.test(read(path)) || sum.test(read(path)));
  assert.deepEqual(breaches, []);
});

/** Read from the disk and not from git, which may be missing or not trust the folder's owner. */
function listFiles(): readonly string[] {
  const ignored = readFileSync(join(root, ".gitignore"), "utf8").split("\n");
  const folders = new Set([".git", ...ignored.map((line) => line.replace(/\/$/, ""))]);
  const endings = ignored.filter((line) => line.startsWith("*")).map((line) => line.slice(1));
  const walk = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      if (folders.has(entry.name)) return [];
      if (entry.isDirectory()) return walk(path);
      return entry.isFile() && !endings.some((ending) => path.endsWith(ending)) ? [path] : [];
    });
  return walk("").toSorted();
}

/** `src/plan/build.ts` is of the room `plan`, `src/main.ts` of `main`. */
function roomOf(path: string): string {
  return path.split("/")[1]?.replace(/\.ts$/, "") ?? "";
}

/** Every file of ours that a file imports, also only types, also by `import()`. */
function importsOf(path: string): readonly string[] {
  const specifier = /(?:\bfrom\s*|\bimport\s*\(?\s*)"(?<target>\.{1,2}\/[^"]+)"/g;
  return [...read(path).matchAll(specifier)].map(({ groups }) =>
    posix.join(posix.dirname(path), groups?.["target"] ?? ""),
  );
}

function linesMatching(paths: readonly string[], pattern: RegExp): readonly string[] {
  return paths.flatMap((path) =>
    read(path)
      .split("\n")
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
}

function withoutCommentsAndStrings(sql: string): string {
  return sql.replaceAll(/--.*$|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]*"/gm, " ");
}

function isGenerated(path: string): boolean {
  return path.startsWith("src/gen/");
}

function isText(path: string): boolean {
  return !read(path).includes("\0");
}

function read(path: string): string {
  const known = text.get(path);
  if (known !== undefined) return known;
  const content = readFileSync(join(root, path), "utf8");
  text.set(path, content);
  return content;
}
