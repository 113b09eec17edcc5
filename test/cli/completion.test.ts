import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { runCommand } from "../support/commands-process.ts";

let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "pemba-completion-"));
  for (const shell of ["bash", "zsh", "fish"]) {
    const { status, stdout, stderr } = await runCommand(["completion", shell]);
    assert.deepEqual([status, stderr], [0, ""]);
    writeFileSync(join(folder, shell), stdout);
  }
  writeFileSync(join(folder, "model.perm"), "");
  for (const name of ["prod", "prod.eu", "test-1"]) {
    const words = ["context", "add", name, "--url", "http://localhost:1", "--tenant", "name"];
    const { status, stderr } = await runCommand(words, { env: { XDG_CONFIG_HOME: folder } });
    assert.deepEqual([status, stderr], [0, ""]);
  }
});

after(() => {
  rmSync(folder, { recursive: true });
});

/** Of a user whose contexts are in the folder. */
function userEnv(): NodeJS.ProcessEnv {
  return { ...process.env, XDG_CONFIG_HOME: folder };
}

/** What a shell that has read its script prints. */
function printed(shell: string, program: string, words: readonly string[] = []): string {
  const args = ["-c", `source ./${shell}; ${program}`, ...words];
  return execFileSync(shell, args, { cwd: folder, encoding: "utf8", env: userEnv() }).trim();
}

/** How each shell says how it would complete the last of the words. */
const completed: Readonly<Record<string, (words: readonly string[]) => readonly string[]>> = {
  bash: (words) =>
    printed(
      "bash",
      'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pemba; printf "%s\\n" "${COMPREPLY[@]}"',
      ["bash", ...words],
    ).split("\n"),
  // What zsh completes with shows only in its line editor, so its own parts are replaced.
  zsh: (words) =>
    execFileSync(
      "zsh",
      [
        "-fc",
        `compdef() { }; source ./zsh
        compadd() { shift; print -rl -- \${(M)@:#$PREFIX*} }
        _describe() { compadd -- \${\${(P)2}%%:*} }
        _files() { print files }
        words=("$@"); CURRENT=$#; PREFIX="$words[CURRENT]"; _pemba`,
        "zsh",
        ...words,
      ],
      { cwd: folder, encoding: "utf8", env: userEnv() },
    )
      .trim()
      .split("\n"),
  fish: (words) =>
    printed("fish", `complete -C '${words.join(" ")}'`)
      .split("\n")
      .map((line) => line.split("\t")[0] ?? ""),
};

const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    ["pemba", "exp"],
    ["export", "expand", "explain"],
  ],
  [
    ["pemba", "schema", "l"],
    ["lint", "list"],
  ],
  [["pemba", "schema", "write", "--ex"], ["--expected-head"]],
  [["pemba", "--quiet", "check", "doc", "--q"], ["--quiet"]],
  [["pemba", "tenant", "c"], ["create"]],
  [["pemba", "help", "bu"], ["bundle"]],
  [["pemba", "help", "context", "u"], ["use"]],
  [["pemba", "completion", "f"], ["fish"]],
  [["pemba", "migrate", "up", "--database-u"], ["--database-uri"]],
  [
    ["pemba", "context", "use", ""],
    ["prod", "prod.eu", "test-1"],
  ],
  [
    ["pemba", "context", "remove", "pr"],
    ["prod", "prod.eu"],
  ],
];

for (const [shell, complete] of Object.entries(completed)) {
  const isThere = spawnSync(shell, ["--version"]).error === undefined;
  test(`${shell} completes commands, their words and their flags`, { skip: !isThere }, () => {
    for (const [words, expected] of cases) {
      assert.deepEqual(complete(words).toSorted(), expected.toSorted(), words.join(" "));
    }
  });
}

const hasZsh = spawnSync("zsh", ["--version"]).error === undefined;

for (const [shell, start] of [
  ["zsh", "zsh -fi"],
  ["bash", "bash --norc --noprofile -i"],
] as const) {
  test(
    `the function of the help is completed as you type in ${shell}`,
    { skip: !hasZsh },
    async () => {
      const { stdout: help } = await runCommand(["help", "completion"]);
      const [, line = ""] = /^ {2}(pemba\(\) .*?) +#/m.exec(help) ?? assert.fail(help);
      const rest = [`PATH=${folder}:$PATH`, "autoload -U compinit 2>/dev/null && compinit -u -D"];
      writeFileSync(join(folder, "start"), [...rest, line, `source ./${shell}`].join("\n"));
      writeFileSync(join(folder, "npx"), "#!/bin/sh\necho ran: $*.\n", { mode: 0o755 });
      // Zsh has what gives a shell a terminal.
      const program = `zmodload zsh/zpty; zpty shell ${start}; zpty -w shell "source ./start"
      zpty -n -w shell $'pemba completio\\t fi\\t\\nexit\\n'
      while zpty -r shell line; do print -r -- $line; done`;
      const shown = execFileSync("zsh", ["-fc", program], { cwd: folder, encoding: "utf8" });
      assert.match(shown, /^(?:.*\r)?ran: pemba completion fish\./m);
    },
  );
}

test("bash completes the name of a file where neither a command nor a flag stands", () => {
  const { bash = () => [] } = completed;
  for (const words of [
    ["pemba", "schema", "write", "mod"],
    ["pemba", "check", "--ca", "mod"],
    ["pemba", "import", "mod"],
  ]) {
    // Then bash itself completes the names of files.
    assert.deepEqual(bash(words), [""], words.join(" "));
  }
  assert.match(printed("bash", "complete -p pemba"), /-o default/);
});

test("a shell that is none of them is refused with their names", async () => {
  const { status, stderr } = await runCommand(["completion", "powershell"]);
  assert.equal(status, 1);
  assert.equal(stderr, "pemba: completion: expected bash, zsh or fish, not `powershell`\n");
});
