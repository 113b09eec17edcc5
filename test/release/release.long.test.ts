import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";

import { bundledPlaces } from "../../scripts/release-components.ts";
import { toolFolder, whyNoTools } from "../support/tools.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const version = "999.1.2";
const image = "images.example/pemba";

/* What a release makes, as a dry run leaves it. */
describe("a dry run of a release", () => {
  const out = mkdtempSync(join(tmpdir(), "pemba-artefacts-"));
  let said = "";
  let stateBefore = "";

  before(async () => {
    stateBefore = await stateOfRepository();
    const words = ["scripts/release.ts", version, "--dry-run", "--image", image, "--out", out];
    ({ stdout: said } = await run(process.execPath, words, { cwd: root }));
  });

  after(() => rmSync(out, { recursive: true }));

  test("leaves the repository as it was, and says so", async () => {
    assert.equal(await stateOfRepository(), stateBefore);
    assert.match(said, /^nothing is tagged: this is a dry run/m);
  });

  test("makes a package of that version", async () => {
    assert.equal(
      await fromArchive(`pemba-${version}.tgz`, "package/package.json", "version"),
      version,
    );
  });

  test("describes REST with that version", () => {
    const { info } = readJson<{ info: { version: string } }>(`pemba-${version}.openapi.json`);
    assert.equal(info.version, version);
  });

  test("makes a chart of that version", { skip: whyNoTools("helm") }, async () => {
    const { stdout } = await run("tar", [
      "-xOzf",
      join(out, `chart/pemba-${version}.tgz`),
      "pemba/Chart.yaml",
    ]);
    assert.match(stdout, /^appVersion: 999\.1\.2$/m);
    assert.match(stdout, /^version: 999\.1\.2$/m);
  });

  test("lists every component that runs, with its version, licence and digest, and no other", () => {
    const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
      readonly packages: Readonly<
        Record<
          string,
          {
            version: string;
            dev?: boolean;
            devOptional?: boolean;
            dependencies?: Readonly<Record<string, string>>;
          }
        >
      >;
    };
    const running = Object.entries(packages)
      .filter(([path, { dev = false, devOptional = false }]) => path !== "" && !dev && !devOptional)
      .map(
        ([path, locked]) =>
          `${path.slice(path.lastIndexOf("node_modules/") + 13)}@${locked.version}`,
      );
    const page = `swagger-ui-dist@${packages["node_modules/swagger-ui-dist"]?.version}`;
    const inConsole = [...bundledPlaces({ packages })].map(
      (place) => `${place.slice("node_modules/".length)}@${packages[place]?.version}`,
    );
    const { bomFormat, metadata, components } = readJson<Components>(`pemba-${version}.cdx.json`);
    assert.equal(bomFormat, "CycloneDX");
    assert.partialDeepStrictEqual(metadata.component, { name: "pemba", version });
    const listed = components.map(({ name, version: own }) => `${name}@${own}`);
    assert.deepEqual(listed.toSorted(), [...new Set([...running, page, ...inConsole])].toSorted());
    for (const { name, licenses, hashes } of components) {
      assert.ok((licenses?.length ?? 0) > 0 && (hashes?.length ?? 0) > 0, name);
    }
  });

  test("has the digest of every artefact", () => {
    const lines = readFileSync(join(out, "SHA256SUMS"), "utf8").trim().split("\n");
    assert.ok(lines.length >= 3);
    for (const line of lines) {
      const [digest, path = ""] = line.split("  ");
      const content = readFileSync(join(out, path));
      assert.equal(createHash("sha256").update(content).digest("hex"), digest, path);
      assert.ok(said.includes(line));
    }
  });

  test("says how the image would be made, for which platforms", () => {
    assert.match(
      said,
      /^no image in a dry run: docker buildx build --push --platform linux\/amd64,linux\/arm64 --tag images\.example\/pemba:999\.1\.2 /m,
    );
  });

  async function fromArchive(name: string, path: string, field: string): Promise<unknown> {
    const { stdout } = await run("tar", ["-xOzf", join(out, name), path]);
    return (JSON.parse(stdout) as Record<string, unknown>)[field];
  }

  function readJson<T>(name: string): T {
    return JSON.parse(readFileSync(join(out, name), "utf8")) as T;
  }
});

test(
  "a release tags a commit that has the version, and has a second one of it refused",
  { skip: whyNoTools("helm") },
  async (t) => {
    const work = mkdtempSync(join(tmpdir(), "pemba-released-"));
    t.after(() => rmSync(work, { recursive: true }));
    const clone = join(work, "clone");
    await run("git", ["clone", "--quiet", root, clone]);
    await run("git", ["-C", clone, "config", "user.email", "test@example.com"]);
    const env = { ...process.env, PATH: [toolFolder, process.env["PATH"]].join(delimiter) };
    const release = async (): Promise<unknown> =>
      await run(process.execPath, ["scripts/release.ts", version, "--out", join(work, "out")], {
        cwd: clone,
        env,
      });
    await release();
    const git = async (...words: readonly string[]): Promise<string> =>
      (await run("git", ["-C", clone, ...words])).stdout;
    assert.equal(await git("rev-parse", "HEAD"), await git("rev-parse", `v${version}^{commit}`));
    assert.equal(await git("status", "--porcelain"), "");
    assert.match(await git("log", "-1", "--format=%s"), /^release: make version 999\.1\.2$/m);
    assert.match(
      await git("tag", "--list", "--format=%(contents)", `v${version}`),
      /^Pemba 999\.1\.2\n\n\S/,
    );
    const versions = ["package.json", "package-lock.json", "docs/openapi.json"].map(
      (path) => /"version": "(.*)"/.exec(readFileSync(join(clone, path), "utf8"))?.[1],
    );
    assert.deepEqual(versions, [version, version, version]);
    await assert.rejects(release(), /999\.1\.2 is not newer than 999\.1\.2/);
  },
);

test("a version that is none is refused", async () => {
  const failed = run(process.execPath, ["scripts/release.ts", "next", "--dry-run"], { cwd: root });
  await assert.rejects(failed, /usage: npm run release -- VERSION/);
});

interface Components {
  readonly bomFormat: string;
  readonly metadata: { readonly component: object };
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly licenses?: readonly unknown[];
    readonly hashes?: readonly unknown[];
  }[];
}

/** The commit, the tags and the changes that are not committed. */
async function stateOfRepository(): Promise<string> {
  const commands = [["rev-parse", "HEAD"], ["tag"], ["status", "--porcelain"]];
  const outputs = commands.map(async (words) => await run("git", ["-C", root, ...words]));
  return (await Promise.all(outputs)).map(({ stdout }) => stdout).join("\n");
}
