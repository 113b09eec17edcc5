import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";

import type { TestApp } from "../support/engines.ts";

/**
 * Serves an app on a free port. `before` is awaited before each request, with its path from `/v1` on.
 * Resolves to the URL.
 */
export async function serveApp(
  t: TestContext,
  { app }: TestApp,
  before: (path: string) => Promise<void> = async () => {},
): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const { method, url = "", headers } = request;
      const payload = await text(request);
      await before(url);
      const answer = await app.inject({ method: method as "POST", url, headers, payload });
      response.writeHead(answer.statusCode, { "content-type": "application/json" });
      response.end(answer.body);
    })();
  });
  server.listen(0, "127.0.0.1");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return `http://127.0.0.1:${address.port}`;
}
