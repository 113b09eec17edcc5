import { readFileSync } from "node:fs";
import { promisify } from "node:util";

import { credentials, loadPackageDefinition, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const [protos, address, token, certificate] = process.argv.slice(2);

const files = ["tenancy", "schema", "data", "permission"].map((name) => `base/v1/${name}.proto`);
const { base } = loadPackageDefinition(
  loadSync(files, { includeDirs: [protos], keepCase: true, enums: String, defaults: true }),
);
const secure = credentials.createSsl(readFileSync(certificate));
const metadata = new Metadata();
metadata.set("authorization", `Bearer ${token}`);

/** The methods of a service, as functions that resolve to the answer. */
function client(service) {
  const connection = new base.v1[service](address, secure);
  return async (method, request) =>
    await promisify(connection[method]).call(connection, request, metadata);
}

const tenant_id = `node-${Date.now()}`;
await client("Tenancy")("Create", { id: tenant_id, name: "an example" });
await client("Schema")("Write", {
  tenant_id,
  schema: "entity user {} entity document { relation viewer @user permission view = viewer }",
});
const entity = { type: "document", id: "plan" };
const subject = { type: "user", id: "ada" };
const { snap_token } = await client("Data")("Write", {
  tenant_id,
  metadata: {},
  tuples: [{ entity, relation: "viewer", subject }],
});
const { can } = await client("Permission")("Check", {
  tenant_id,
  metadata: { snap_token },
  entity,
  permission: "view",
  subject,
});
process.stdout.write(`${can}\n`);
