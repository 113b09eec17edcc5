import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { test, type TestContext } from "node:test";
import { connect } from "node:tls";

import { pino } from "pino";

import { FileCertificate } from "../../src/auth/certificate.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { buildGrpcServer } from "../../src/grpc/server.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { until } from "../store/open-write.ts";
import { admitAll } from "../support/admit-all.ts";
import {
  certificateFolder,
  type CertificateFolder,
  makeCertificate,
  type MadeCertificate,
} from "../support/certificate-files.ts";
import { connectGrpc } from "../support/grpc.ts";

interface Scene {
  readonly files: CertificateFolder;
  readonly first: MadeCertificate;
  readonly http: number;
  readonly grpc: number;
  readonly log: readonly string[];
}

/** Both listeners with one certificate, whose files are looked at all the time. */
async function open(t: TestContext): Promise<Scene> {
  const first = await makeCertificate();
  const files = certificateFolder(t, first);
  const log: string[] = [];
  const certificate = new FileCertificate({
    files,
    keyPrefix: "server.http.tls",
    logger: pino({}, { write: (line: string) => void log.push(String(JSON.parse(line).msg)) }),
    lookInterval: 10,
  });
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const service = { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 };
  const options = { service, admission: admitAll, logger: pino({ level: "silent" }), certificate };
  const app = buildHttpServer(options);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const server = buildGrpcServer(options);
  const grpc = await server.listen({ host: "127.0.0.1", port: 0 });
  t.after(async () => {
    certificate.close();
    await app.close();
    server.cut();
    await store.close();
  });
  return { files, first, http: Number(new URL(url).port), grpc, log };
}

/** The fingerprint of what a listener shows to a new connection. */
async function shownBy(port: number): Promise<string> {
  const options = { port, host: "127.0.0.1", ALPNProtocols: ["h2", "http/1.1"] };
  const socket = connect({ ...options, rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect");
    return socket.getPeerCertificate().fingerprint256;
  } finally {
    socket.destroy();
  }
}

function fingerprint({ cert }: MadeCertificate): string {
  return new X509Certificate(cert).fingerprint256;
}

async function statusOverRest(port: number, ca: string, agent: Agent): Promise<number> {
  const asked = request({ host: "127.0.0.1", port, ca, agent, path: "/healthz" }).end();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  asked.on("response", (response) => {
    response.resume();
    response.on("end", () => resolve(response.statusCode ?? 0));
  });
  asked.on("error", reject);
  return await promise;
}

test("only a client that trusts their certificate reaches both listeners", async (t) => {
  const { first, http, grpc } = await open(t);
  const agent = new Agent();
  t.after(() => agent.destroy());
  assert.equal(await statusOverRest(http, first.cert, agent), 200);
  const client = connectGrpc(`localhost:${grpc}`, { root: Buffer.from(first.cert) });
  t.after(() => client.close());
  assert.equal((await client.call(Health.method.check, {})).status, 1);

  const stranger = await makeCertificate();
  await assert.rejects(statusOverRest(http, stranger.cert, new Agent()));
  const wrong = connectGrpc(`localhost:${grpc}`, { root: Buffer.from(stranger.cert) });
  t.after(() => wrong.close());
  await assert.rejects(wrong.call(Health.method.check, {}), { code: 14 });
  const plain = connectGrpc(`localhost:${grpc}`);
  t.after(() => plain.close());
  await assert.rejects(plain.call(Health.method.check, {}), { code: 14 });
  await assert.rejects(fetch(`http://127.0.0.1:${http}/healthz`));
});

test("what is older than TLS 1.2 is not spoken", async (t) => {
  const { http, grpc } = await open(t);
  for (const port of [http, grpc]) {
    // The platform's own lists leave the old versions out, so the client has to insist.
    const ciphers = "DEFAULT@SECLEVEL=0";
    const versions = { minVersion: "TLSv1", maxVersion: "TLSv1.1" } as const;
    const old = connect({
      port,
      host: "127.0.0.1",
      rejectUnauthorized: false,
      ciphers,
      ...versions,
    });
    await assert.rejects(once(old, "secureConnect"), /alert protocol version/);
    const known = { ...versions, maxVersion: "TLSv1.2" } as const;
    const new12 = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...known });
    await once(new12, "secureConnect");
    assert.equal(new12.getProtocol(), "TLSv1.2");
    new12.destroy();
  }
});

test("new connections have the certificate that took the place of another, old ones live on", async (t) => {
  const { files, first, http, grpc, log } = await open(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const client = connectGrpc(`localhost:${grpc}`, { root: Buffer.from(first.cert) });
  t.after(() => client.close());
  assert.equal(await statusOverRest(http, first.cert, agent), 200);
  assert.equal((await client.call(Health.method.check, {})).status, 1);

  const second = await makeCertificate();
  files.put(second);
  for (const port of [http, grpc]) {
    await until(async () => ((await shownBy(port)) === fingerprint(second) ? true : undefined));
  }
  // Both trust the first one only.
  assert.equal(await statusOverRest(http, first.cert, agent), 200);
  assert.equal((await client.call(Health.method.check, {})).status, 1);
  const fresh = new Agent();
  await assert.rejects(statusOverRest(http, first.cert, fresh));
  assert.deepEqual(log.at(-1), "server.http.tls: the new certificate is used from now on");
});

test("files that do not fit change nothing, and are reported once", async (t) => {
  const { files, first, http, grpc, log } = await open(t);
  const second = await makeCertificate();
  writeFileSync(files.key, second.private);
  await until(async () => (log.length > 0 ? true : undefined));
  for (const port of [http, grpc]) assert.equal(await shownBy(port), fingerprint(first));
  writeFileSync(files.cert, "no certificate");
  writeFileSync(files.cert, second.cert);
  await until(async () => ((await shownBy(http)) === fingerprint(second) ? true : undefined));
  assert.equal(new Set(log).size, log.length, log.join("\n"));
  assert.match(
    log[0] ?? "",
    /are not a certificate and its key: the old certificate stays in use$/,
  );
});

test("files that cannot be used at the start are reported with their key", async (t) => {
  const made = await makeCertificate();
  const other = await makeCertificate();
  const open = (files: CertificateFolder): unknown =>
    new FileCertificate({ files, keyPrefix: "server.grpc.tls", logger: pino({ level: "silent" }) });
  const missing = certificateFolder(t);
  assert.throws(() => open(missing), {
    plainMessage: `server.grpc.tls.cert: cannot read \`${missing.cert}\``,
  });
  writeFileSync(missing.cert, made.cert);
  assert.throws(() => open(missing), {
    plainMessage: `server.grpc.tls.key: cannot read \`${missing.key}\``,
  });
  for (const [cert, key] of [
    [made.cert, other.private],
    ["", made.private],
    [made.cert, ""],
    [made.private, made.cert],
    [made.cert.slice(0, 100), made.private],
  ] as const) {
    const files = certificateFolder(t, { cert, private: key });
    assert.throws(() => open(files), {
      plainMessage: `server.grpc.tls: \`${files.cert}\` and \`${files.key}\` are not a certificate and its key`,
    });
  }
});
