import { setTimeout } from "node:timers/promises";

import { clusterOptions, serverSettings } from "./postgres-settings.ts";
import type { TestServer } from "./postgres.ts";

const image = "postgres:18-alpine";

/** An image that takes longer is not worth the wait when the binaries are already here. */
const startTimeoutMs = 120_000;

/**
 * Starts Postgres in a container, or answers `undefined` if no container runtime does or the image
 * cannot be had. What is left after a crash is removed by the reaper that testcontainers starts.
 */
export async function startPostgresContainer(): Promise<TestServer | undefined> {
  const { getContainerRuntimeClient } = await import("testcontainers");
  try {
    await getContainerRuntimeClient();
  } catch {
    return undefined;
  }
  const deadline = new AbortController();
  try {
    return await Promise.race([
      start(),
      setTimeout(startTimeoutMs, undefined, { signal: deadline.signal }).then(() => {
        throw new Error(`not up after ${startTimeoutMs / 1000} s`);
      }),
    ]);
  } catch (error) {
    process.stdout.write(`no container of ${image}: ${String(error)}\n`);
    return undefined;
  } finally {
    deadline.abort();
  }
}

async function start(): Promise<TestServer> {
  const { PostgreSqlContainer } = await import("@testcontainers/postgresql");
  const container = await new PostgreSqlContainer(image)
    .withUsername("postgres")
    .withPassword("postgres")
    .withDatabase("postgres")
    .withEnvironment({ POSTGRES_INITDB_ARGS: clusterOptions.join(" ") })
    .withCommand(["postgres", ...serverSettings.flatMap((setting) => ["-c", setting])])
    .start();
  return {
    url: container.getConnectionUri(),
    stop: async () => {
      await container.stop();
    },
  };
}
