import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";

import { startPemba as startServer } from "../../src/testing/start-pemba.ts";
import { runCommand } from "../support/commands-process.ts";
import { type Running, startPemba } from "../support/pemba.ts";
import { docSchema } from "./client-scene.ts";

/** Resolves to each next so many lines of the command. Fails if it ends before. */
function linesOf({ process: child, finished }: Running): (count: number) => Promise<string> {
  let written = "";
  let more: (() => void) | undefined;
  child.stdout?.on("data", (chunk: Buffer) => {
    written += chunk.toString();
    more?.();
  });
  const ended = finished.then(({ stderr }) => assert.fail(stderr));
  // It may end when nothing waits for its lines any more.
  ended.catch(() => undefined);
  return async (count) => {
    for (;;) {
      const end = written.split("\n", count).join("\n").length + 1;
      if (written.split("\n").length > count) {
        const lines = written.slice(0, end);
        written = written.slice(end);
        return lines;
      }
      await Promise.race([new Promise<void>((resolve) => (more = resolve)), ended]);
    }
  };
}

async function servedTenant(
  t: TestContext,
): Promise<(words: readonly string[]) => Promise<string>> {
  const server = await startServer({ config: { "service.watch.enabled": true } });
  t.after(() => server.stop());
  const url = server.getRestUrl();
  const env = { PEMBA_URL: url };
  const run = async (words: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await runCommand(words, { env });
    assert.deepEqual([status, stderr], [0, ""]);
    return stdout.trim();
  };
  const body = JSON.stringify({ schema: docSchema });
  const written = await fetch(`${url}/v1/tenants/t1/schemas/write`, { method: "POST", body });
  assert.equal(written.status, 200);
  return async (words) => (words.length === 0 ? url : await run(words));
}

test("watch prints what is written and deleted after a state, and Ctrl-C ends it with 0", async (t) => {
  const run = await servedTenant(t);
  const url = await run([]);
  const token = await run(["tuple", "write", "doc:0#viewer@user:ada"]);
  await run(["tuple", "write", "doc:1#viewer@user:ada", "doc:2#viewer@group:g#member"]);
  const watching = startPemba(["watch", "--url", url, "--snap-token", token], {});
  const next = linesOf(watching);
  assert.equal(await next(2), "+ doc:1#viewer@user:ada\n+ doc:2#viewer@group:g#member\n");
  await run(["attribute", "write", "doc:1$public|boolean:true"]);
  const last = await run(["tuple", "delete", "doc:1#viewer@user:ada"]);
  assert.equal(await next(2), "+ doc:1$public|boolean:true\n- doc:1#viewer@user:ada\n");
  watching.process.kill("SIGINT");
  const { status, stderr } = await watching.finished;
  assert.equal(status, 0);
  const [, resumed = ""] =
    /^pemba: watch: to go on, run `pemba watch --snap-token (\S+)`\n$/.exec(stderr) ?? [];
  assert.notEqual(resumed, "", stderr);
  // The token that is named is of the state of the last line.
  await run(["tuple", "write", "doc:9#viewer@user:ada"]);
  for (const after of [resumed, last]) {
    const again = startPemba(["watch", "--url", url, "--snap-token", after], {});
    assert.equal(await linesOf(again)(1), "+ doc:9#viewer@user:ada\n");
    again.process.kill("SIGTERM");
    assert.equal((await again.finished).status, 0);
  }
});

test("watch --json prints the state at which it begins, and then the messages", async (t) => {
  const run = await servedTenant(t);
  const watching = startPemba(["watch", "--json", "--url", await run([])], {});
  const next = linesOf(watching);
  const begun = JSON.parse(await next(1)) as { snap_token: string };
  assert.deepEqual(begun, { snap_token: begun.snap_token, data_changes: { changes: [] } });
  const token = await run(["attribute", "write", "doc:1$public|boolean:true"]);
  const value = { "@type": "type.googleapis.com/base.v1.BooleanValue", data: true };
  const attribute = { entity: { type: "doc", id: "1" }, attribute: "public", value };
  const message = JSON.parse(await next(1)) as { data_changes: object };
  assert.deepEqual(message.data_changes, {
    changes: [{ operation: "OPERATION_CREATE", attribute }],
  });
  assert.notEqual(token, "");
  watching.process.kill("SIGINT");
  assert.equal((await watching.finished).status, 0);
});

test("a server that does not watch, and a token that is none, end it with 1", async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const off = await runCommand(["watch", "--url", server.getRestUrl()]);
  assert.deepEqual([off.status, off.stdout], [1, ""]);
  assert.match(off.stderr, /^pemba: [^\n]*`service\.watch\.enabled`[^\n]*\n$/);
  const run = await servedTenant(t);
  const wrong = await runCommand(["watch", "--url", await run([]), "--snap-token", "x"]);
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /snap_token/);
  const nowhere = await runCommand(["watch", "--url", "http://127.0.0.1:1"]);
  assert.deepEqual([nowhere.status, /sent again|goes on in/.test(nowhere.stderr)], [1, false]);
});

/** A server of streams: each connection gets the next answer, with the tokens that they asked for. */
async function fakeStreams(
  t: TestContext,
  answers: readonly ((response: ServerResponse) => void)[],
): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    assert.equal(request.headers.accept, "text/event-stream");
    asked.push((JSON.parse(await text(request)) as { snap_token: string }).snap_token);
    answers[asked.length - 1]?.(response);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return { url: `http://127.0.0.1:${address.port}`, asked };
}

function event(id: string, ...docs: readonly string[]): string {
  const changes = docs.map((doc) => ({
    operation: "OPERATION_CREATE",
    tuple: {
      entity: { type: "doc", id: doc },
      relation: "viewer",
      subject: { type: "user", id: "ada", relation: "" },
    },
  }));
  const data = JSON.stringify({ snap_token: id, data_changes: { changes } });
  return docs.length === 0 ? `id: ${id}\n\n` : `id: ${id}\ndata: ${data}\n\n`;
}

test("a broken connection goes on from the last token, however it breaks", async (t) => {
  const stopping = JSON.stringify({
    error: { code: 14, message: "ERROR_CODE_UNAVAILABLE: stops" },
  });
  const { url, asked } = await fakeStreams(t, [
    (response) => {
      // The connection is lost in the middle of an event, behind a heartbeat.
      response.write(`${event("s0")}:\n\n${event("s1", "1")}id: s2\nda`, () => response.destroy());
    },
    (response) => response.end(event("s1") + event("s3", "2", "3")),
    (response) => response.writeHead(503).end('{"message":"too busy"}'),
    (response) => response.end(`${event("s3")}data: ${stopping}\n\n`),
    (response) => response.write(event("s3") + event("s4", "4")),
  ]);
  const watching = startPemba(["watch", "--url", url], {});
  assert.equal(
    await linesOf(watching)(4),
    ["1", "2", "3", "4"].map((doc) => `+ doc:${doc}#viewer@user:ada\n`).join(""),
  );
  assert.deepEqual(asked, ["", "s1", "s3", "s3", "s3"]);
  watching.process.kill("SIGINT");
  const { status, stderr } = await watching.finished;
  assert.equal(status, 0);
  const warnings = stderr.trimEnd().split("\n");
  assert.equal(warnings.length, 5);
  assert.match(warnings[2] ?? "", /^pemba: warning: the stream goes on in 0\.5 s: .*too busy$/);
  assert.match(warnings[3] ?? "", /: stops$/);
  assert.match(warnings[4] ?? "", /--snap-token s4`$/);
});

test("an error that cannot pass ends the watch, with how to go on", async (t) => {
  const expired = JSON.stringify({ error: { code: 9, message: "ERROR_CODE_X: is too old" } });
  const { url } = await fakeStreams(t, [
    (response) => response.end(`${event("s0")}${event("s1", "1")}data: ${expired}\n\n`),
  ]);
  const { status, stdout, stderr } = await runCommand(["watch", "--url", url]);
  assert.deepEqual([status, stdout], [1, "+ doc:1#viewer@user:ada\n"]);
  assert.equal(
    stderr,
    "pemba: watch: to go on, run `pemba watch --snap-token s1`\npemba: is too old\n",
  );
});
