import { subscribe, unsubscribe } from "node:diagnostics_channel";

import type { RouteOptions } from "fastify";

/** A route as the server itself knows it. */
export interface Route {
  /** `POST /v1/tenants/{tenant}/data/write`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** The shape of its body, as JSON schema; undefined when it takes none. */
  readonly body: unknown;
}

/** Does the work, and lists the routes of every server that is built meanwhile. */
export async function watchingRoutes<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly routes: readonly Route[] }> {
  const routes: Route[] = [];
  const onBuilt = (message: unknown): void => {
    if (typeof message !== "object" || message === null || !("fastify" in message)) return;
    const { fastify } = message;
    if (typeof fastify !== "object" || fastify === null) return;
    const addHook: unknown = Reflect.get(fastify, "addHook");
    if (typeof addHook !== "function") return;
    Reflect.apply(addHook, fastify, [
      "onRoute",
      ({ method, url, schema }: RouteOptions) => {
        for (const verb of [method].flat()) {
          const path = url.replace(/:(tenant_)?id/, "{tenant}");
          routes.push({ name: `${verb} ${path}`, method: verb, path, body: schema?.body });
        }
      },
    ]);
  };
  subscribe("fastify.initialization", onBuilt);
  try {
    return { result: await work(), routes };
  } finally {
    unsubscribe("fastify.initialization", onBuilt);
  }
}
