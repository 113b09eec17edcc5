import { pino } from "pino";

import { buildGrpcServer } from "../src/grpc/server.ts";
import { buildHttpServer } from "../src/http/server.ts";
import { createHealth } from "../src/service/health.ts";
import { limitQuestions } from "../src/service/limit-questions.ts";
import type { CheckLayers } from "../src/store/postgres/checks/check-layers.ts";
import { admitAll } from "../test/support/admit-all.ts";
import { openStore } from "./store.ts";

/*
 * Both transports of a database, with the layers of checks that are given: `pemba serve` always has
 * all. Takes the database, the connections and the layers (JSON), and says where it listens.
 */

const [url = "", connections = "", text = "{}"] = process.argv.slice(2);
const layers: CheckLayers = JSON.parse(text);
const opened = await openStore({ url, connections: Number(connections), layers });
/** Limits are for clients who ask too much; a benchmark is one on purpose. */
const store = limitQuestions(opened, 100_000);
const service = {
  store,
  health: createHealth({ ping: async () => await store.ping() }),
  maxDataPerWrite: 1_000,
  bulkLimit: 100,
};
const common = { service, admission: admitAll, logger: pino({ level: "silent" }) };
const http = buildHttpServer(common);
const grpc = buildGrpcServer(common);
const host = "127.0.0.1";
const rest = await http.listen({ host, port: 0 });
const port = await grpc.listen({ host, port: 0 });
process.once("SIGTERM", () => {
  void Promise.all([http.close(), grpc.close()]).then(async () => await store.close());
});
process.stdout.write(`${JSON.stringify({ url: rest, grpc: `${host}:${port}` })}\n`);
