/** What Prometheus is answered on its own port. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";

import { MeterProvider } from "@opentelemetry/sdk-metrics";

import { openScrape, type Scrape } from "../../src/telemetry/scrape.ts";
import { until } from "../store/open-write.ts";

const get = "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n";

test("requests that are sent ahead share one reading of the measures", async (t) => {
  const { open, provider } = await start(t);
  let readings = 0;
  const gauge = provider.getMeter("test").createObservableGauge("readings");
  gauge.addCallback((result) => {
    readings += 1;
    result.observe(readings);
  });
  const socket = await open();
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.write(get.repeat(200));
  await until(async () => (text.split(" 200 OK").length > 200 ? true : undefined));
  assert.ok(readings < 5, `${readings} readings`);
});

test("a client that sends very many requests ahead in one read is closed", async (t) => {
  const { open } = await start(t);
  const socket = await open();
  let answers = 0;
  socket.on("data", (chunk: Buffer) => (answers += chunk.toString().split(" 200 OK").length - 1));
  socket.write(get.repeat(20_000));
  await until(async () => (socket.destroyed ? true : undefined));
  assert.ok(answers <= 501, `${answers} answers`);
});

test("a connection that is not used makes room for one more than may be open", async (t) => {
  const { open } = await start(t);
  const sockets: Socket[] = [];
  for (let nth = 0; nth <= 100; nth++) sockets.push(await open());
  const [first] = sockets;
  first?.resume();
  await until(async () => (first?.destroyed === true ? true : undefined));
  const last = sockets.at(-1);
  last?.write(get);
  const [answer]: unknown[] = await once(last ?? assert.fail("it is open"), "data");
  assert.match(String(answer), /^HTTP\/1.1 200 OK/);
});

test("a client that asks for a tunnel is closed, and nothing waits for it", async (t) => {
  const { open, scrape } = await start(t);
  const tunnel = await open();
  tunnel.resume().write("CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(async () => (tunnel.destroyed ? true : undefined));
  await scrape.close();
});

test("a request that expects what is not known is refused", async (t) => {
  const { open } = await start(t);
  const socket = await open();
  socket.write("GET /metrics HTTP/1.1\r\nhost: x\r\nexpect: more\r\n\r\n");
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await until(async () => (text === "" ? undefined : true));
  assert.match(text, /^HTTP\/1.1 417 /);
});

async function start(t: TestContext): Promise<{
  readonly provider: MeterProvider;
  readonly scrape: Scrape;
  readonly open: () => Promise<Socket>;
}> {
  const scrape = await openScrape({ host: "127.0.0.1", port: 0 });
  const opened: Socket[] = [];
  t.after(async () => {
    for (const socket of opened) socket.destroy();
    await scrape.close();
  });
  return {
    scrape,
    provider: new MeterProvider({ readers: [scrape.reader] }),
    open: async () => {
      const socket = connect(scrape.port, "127.0.0.1");
      opened.push(socket);
      socket.on("error", () => undefined);
      await once(socket, "connect");
      return socket;
    },
  };
}
