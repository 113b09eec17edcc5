import assert from "node:assert/strict";
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { PembaError, reasonOf } from "../../src/base/error.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { isCancelled } from "../../src/store/postgres/connect/driver-error.ts";
import { onDatabase } from "../../src/store/postgres/connect/on-database.ts";
import { openMigrationClient } from "../../src/store/postgres/migration-client.ts";
import {
  certificateFolder,
  type CertificateName,
  makeCertificate,
} from "../support/certificate-files.ts";
import { withoutIpv6 } from "../support/ipv6.ts";
import { serverUser, startPostgresBinaries } from "../support/postgres-binaries.ts";
import { serverSettings } from "../support/postgres-settings.ts";
import { pool } from "./engines.ts";

/** A server with a certificate for these names, and the file of that. */
async function startWith(
  t: TestContext,
  names: readonly CertificateName[],
  more: readonly string[] = [],
): Promise<{ readonly url: string; readonly root: string }> {
  const made = certificateFolder(t, await makeCertificate(names));
  // Of the server's user, which takes no key that others could read.
  const folder = mkdtempSync("/tmp/pemba-server-certificate-");
  t.after(() => rmSync(folder, { recursive: true }));
  const cert = join(folder, "server.crt");
  const key = join(folder, "server.key");
  const { uid, gid } = await serverUser();
  copyFileSync(made.cert, cert);
  copyFileSync(made.key, key);
  chmodSync(key, 0o600);
  if (uid !== undefined && gid !== undefined) {
    for (const path of [folder, cert, key]) chownSync(path, uid, gid);
  }
  const settings = ["ssl=on", `ssl_cert_file=${cert}`, `ssl_key_file=${key}`];
  const server = await startPostgresBinaries([...serverSettings, ...settings, ...more]);
  t.after(async () => await server.stop());
  return { url: server.url, root: made.cert };
}

const encryptionOf = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";

/**
 * Is a connection with these parameters encrypted? Fails as it does. Migrations have a driver of their
 * own, for which the parameters mean the same.
 */
async function isEncrypted(url: string, query: string): Promise<unknown> {
  const uri = `${url}?${query}`;
  const [asked, migrating] = await Promise.allSettled([
    onDatabase(uri, async (database) => (await database.query(encryptionOf, []))[0]?.["ssl"]),
    isMigrationEncrypted(uri),
  ]);
  assert.equal(migrating.status, asked.status, query);
  if (asked.status === "rejected") throw asked.reason;
  if (migrating.status === "fulfilled") assert.equal(migrating.value, asked.value, query);
  return asked.value;
}

async function isMigrationEncrypted(uri: string): Promise<unknown> {
  const { client, close } = await openMigrationClient(uri, 10_000);
  const { rows } = await client.query<{ ssl: unknown }>(encryptionOf);
  await close();
  return rows[0]?.ssl;
}

test(
  "verify-full wants the certificate to name an IPv6 address as well",
  { skip: withoutIpv6 },
  async (t) => {
    const all = ["listen_addresses=127.0.0.1,::1"];
    const { url, root } = await startWith(t, [{ type: 7, ip: "::1" }], all);
    const full = `sslmode=verify-full&sslrootcert=${root}`;
    assert.equal(await isEncrypted(url.replace("127.0.0.1", "[::1]"), full), true);
    await assert.rejects(isEncrypted(url, full));
  },
);

test("verify-full wants the certificate to name the host, be it a name or an address", async (t) => {
  const address = await startWith(t, [{ type: 7, ip: "127.0.0.1" }]);
  const name = await startWith(t, [{ type: 2, value: "localhost" }]);
  const full = `sslmode=verify-full&sslrootcert=${address.root}`;
  assert.equal(await isEncrypted(address.url, full), true);
  await assert.rejects(isEncrypted(address.url.replace("127.0.0.1", "localhost"), full));

  const named = `sslmode=verify-full&sslrootcert=${name.root}`;
  assert.equal(await isEncrypted(name.url.replace("127.0.0.1", "localhost"), named), true);
  await assert.rejects(isEncrypted(name.url, named), ({ cause }: Error) => {
    assert.match(String(cause), /altnames/);
    return true;
  });
});

test("the other modes encrypt, and ask the authority where one is named", async (t) => {
  const { url, root } = await startWith(t, [{ type: 2, value: "elsewhere" }]);
  const stranger = certificateFolder(t, await makeCertificate()).cert;
  for (const [query, expected] of [
    ["", false],
    ["sslmode=disable", false],
    ["sslmode=prefer", true],
    ["sslmode=require", true],
    ["sslmode=require&sslnegotiation=direct", true],
    [`sslmode=require&sslrootcert=${root}`, true],
    [`sslmode=verify-ca&sslrootcert=${root}`, true],
  ] as const) {
    assert.equal(await isEncrypted(url, query), expected, query);
  }
  for (const query of [
    "sslmode=verify-full",
    "sslrootcert=system",
    `sslmode=require&sslrootcert=${stranger}`,
    `sslmode=verify-ca&sslrootcert=${stranger}`,
    `sslmode=verify-full&sslrootcert=${root}`,
  ]) {
    await assert.rejects(isEncrypted(url, query), /certificate of the database/, query);
  }
});

test("a statement over TLS is cancelled on the server when its time is over", async (t) => {
  const { url } = await startWith(t, []);
  const database = await Database.connect({
    url: `${url}?sslmode=require`,
    pool,
    warn: assert.fail,
    readTimeoutMs: 200,
  });
  t.after(async () => await database.close());
  await assert.rejects(database.read("select pg_sleep(600)", []), (error: Error) => {
    assert.ok(isCancelled(error.cause), String(error.cause));
    return true;
  });
});

test("prefer goes without where the server has no certificate, and require does not", async (t) => {
  const server = await startPostgresBinaries();
  t.after(async () => await server.stop());
  assert.equal(await isEncrypted(server.url, "sslmode=prefer"), false);
  await assert.rejects(isEncrypted(server.url, "sslmode=require"));
});

test("a file of authorities that is none is named to the operator, and no fault of a client", async () => {
  for (const [path, expected] of [
    ["/nowhere/root.crt", /`sslrootcert` cannot be read: .*\/nowhere\/root\.crt/],
    [import.meta.filename, /`sslrootcert` has no certificate: /],
  ] as const) {
    const query = `sslmode=verify-full&sslrootcert=${path}`;
    await assert.rejects(isEncrypted("postgres://127.0.0.1:1/x", query), (error) => {
      assert.ok(error instanceof PembaError);
      assert.equal(error.code, "UNAVAILABLE");
      assert.match(reasonOf(error), expected);
      assert.ok(!error.message.includes(path), error.message);
      return true;
    });
  }
});
