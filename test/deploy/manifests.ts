import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { parse } from "yaml";

const run = promisify(execFile);

/** The folder of the kustomizations. */
export const kustomizeFolder = join(import.meta.dirname, "../../deploy/kubernetes");

/** Variables of the secret that several pods expect. */
export const secret = {
  SERVICE_DATABASE_URI: "postgres://user:password@host:5432/pemba",
  SERVICE_AUTHN_PRESHARED_KEYS: "made-by-you",
};

/** What stands at a path, or undefined when there is nothing. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null ? Reflect.get(inner, step) : undefined,
    value,
  );
}

export function ofKind(all: readonly unknown[], kind: string): readonly unknown[] {
  return all.filter((one) => at(one, "kind") === kind);
}

/** The manifests in a text. */
export function manifestsOf(text: string): readonly unknown[] {
  return text
    .split(/^---$/m)
    .map((document): unknown => parse(document))
    .filter((manifest) => manifest !== null);
}

/** What kubectl puts together for an overlay. */
export async function kustomized(overlay: string): Promise<string> {
  const { stdout } = await run("kubectl", ["kustomize", join(kustomizeFolder, overlay)]);
  return stdout;
}

/** Why nothing can be put together here. False if it can. */
export async function whyNoKubectl(): Promise<string | false> {
  try {
    await run("kubectl", ["kustomize", "--help"]);
    return false;
  } catch {
    return "there is no kubectl";
  }
}
