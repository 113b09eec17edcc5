import { join } from "node:path";

import { GenericContainer, getContainerRuntimeClient } from "testcontainers";

/** Why no container can be started here, or `undefined` when one can. */
export async function whyNoContainers(): Promise<string | undefined> {
  try {
    await getContainerRuntimeClient();
    return undefined;
  } catch {
    return "no container engine answers";
  }
}

/** The image that `PEMBA_TEST_IMAGE` names, else one that is built from this repository. */
export async function pembaImage(): Promise<string> {
  const named = process.env["PEMBA_TEST_IMAGE"];
  if (named !== undefined && named !== "") return named;
  const image = "pemba:test";
  await GenericContainer.fromDockerfile(join(import.meta.dirname, "../.."))
    .withBuildkit()
    .build(image, { deleteOnExit: false });
  return image;
}
