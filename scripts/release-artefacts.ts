import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";

import { findTool } from "../test/support/tools.ts";
import { listComponents } from "./release-components.ts";

const run = promisify(execFile);

/** The platforms of the image: those for which its base images are made and Node is supported. */
const platforms = ["linux/amd64", "linux/arm64"];

/** A checkout of what is released, with its packages, and where the artefacts go. */
export interface ArtefactOrder {
  readonly root: string;
  readonly out: string;
  readonly version: string;
  /** Undefined for no image. */
  readonly image: string | undefined;
  readonly isDryRun: boolean;
}

/**
 * Makes the package, its list of components, the description of REST, the chart, the image and the digests
 * of all files. `say` gets a line for each.
 */
export async function writeArtefacts(
  order: ArtefactOrder,
  say: (text: string) => void,
): Promise<void> {
  const files = [
    await writePackage(order),
    await writeComponents(order),
    copyDescription(order),
    ...(await writeChart(order, say)),
    ...(await pushImage(order, say)),
  ];
  const digests = files.map((file) => `${digestOf(file)}  ${relative(order.out, file)}\n`);
  writeFileSync(join(order.out, "SHA256SUMS"), digests.join(""));
  for (const line of digests) say(line.trimEnd());
}

async function writePackage({ root, out, version }: ArtefactOrder): Promise<string> {
  await run("npm", ["pack", "--pack-destination", out], { cwd: root });
  return join(out, `pemba-${version}.tgz`);
}

async function writeComponents({ root, out, version }: ArtefactOrder): Promise<string> {
  const file = join(out, `pemba-${version}.cdx.json`);
  writeFileSync(file, await listComponents(root));
  return file;
}

function copyDescription({ root, out, version }: ArtefactOrder): string {
  const file = join(out, `pemba-${version}.openapi.json`);
  copyFileSync(join(root, "docs/openapi.json"), file);
  return file;
}

/** In a folder of its own, because Helm gives it the name that the package has. */
async function writeChart(
  { root, out, version }: ArtefactOrder,
  say: (text: string) => void,
): Promise<readonly string[]> {
  const helm = findTool("helm");
  if (helm === undefined) {
    say("no chart: there is no helm, `npm run tools` fetches it");
    return [];
  }
  const folder = join(out, "chart");
  mkdirSync(folder, { recursive: true });
  await run(helm, ["package", join(root, "deploy/helm/pemba"), "--destination", folder]);
  return [join(folder, `pemba-${version}.tgz`)];
}

/** Builds the image for all platforms and pushes it. The file has its name, digest and platforms. */
async function pushImage(
  { root, out, version, image, isDryRun }: ArtefactOrder,
  say: (text: string) => void,
): Promise<readonly string[]> {
  if (image === undefined) {
    say("no image: none is named");
    return [];
  }
  const name = `${image}:${version}`;
  const metadata = join(out, "buildx.json");
  const words = ["buildx", "build", "--push", "--platform", platforms.join(","), "--tag", name];
  words.push("--provenance", "true", "--sbom", "true", "--metadata-file", metadata, root);
  if (isDryRun) {
    say(`no image in a dry run: docker ${words.join(" ")}`);
    return [];
  }
  await run("docker", words, { maxBuffer: 64 * 1024 * 1024 });
  const { "containerimage.digest": digest } = JSON.parse(readFileSync(metadata, "utf8")) as {
    readonly "containerimage.digest": string;
  };
  const file = join(out, "image.json");
  writeFileSync(file, `${JSON.stringify({ name, digest, platforms }, null, 2)}\n`);
  return [file];
}

function digestOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
