import { createSecureContext } from "node:tls";

import { credentials } from "@grpc/grpc-js";
import type { Logger } from "pino";

import { type Certificate, oldestTls } from "../auth/certificate.ts";
import { presharedKeys } from "../auth/preshared-keys.ts";
import { must } from "../base/assert.ts";
import type { Telemetry } from "../base/telemetry.ts";
import type { Config } from "../config/options.ts";
import { peerTargetOf } from "../config/peer-target.ts";
import { forwardChecks } from "../distributed/forward-checks.ts";
import { buildPeerServer, type PeerServer } from "../distributed/peer-server.ts";
import type { PeerCredentials } from "../distributed/peer.ts";
import { Peers } from "../distributed/peers.ts";
import { resolvePeers } from "../distributed/resolve.ts";
import type { RingShape } from "../distributed/ring.ts";
import type { Service } from "../service/service.ts";
import type { Layer } from "../store/layer/layer.ts";

/** How long another instance has to answer a check, at most, in milliseconds. */
const patienceMaxMs = 1_000;

/** The connection of an instance to the others. */
export interface Distribution {
  readonly server: PeerServer;
  /** Sends checks to the instances that keep their answers. */
  readonly forwarding: Layer;
  close(): void;
}

/**
 * Joins the configured instances, if there are any. `service` answers their checks without asking
 * others.
 */
export function openPeers(
  config: Config,
  service: Service,
  parts: {
    /** Names this instance to the others. */
    readonly instance: string;
    readonly certificate: Certificate | undefined;
    readonly logger: Logger;
    readonly telemetry: Telemetry;
  },
): Distribution | undefined {
  if (!config["distributed.enabled"]) return undefined;
  const { instance, certificate, logger, telemetry } = parts;
  const keys = peerKeysOf(config);
  const server = buildPeerServer({
    service,
    instance,
    authenticator: keys.length === 0 ? undefined : presharedKeys(keys),
    certificate,
    logger,
    telemetry,
  });
  const peers = new Peers({
    target: must(peerTargetOf(config["distributed.address"]), "the address was read"),
    resolve: resolvePeers,
    shape: ringShapeOf(config),
    width: config["distributed.picker_width"],
    instance,
    credentials: credentialsOf(config, certificate, keys[0]),
    warn: (message) => logger.warn(message),
  });
  telemetry.observe("pemba.peer.members", () => [{ value: peers.size, labels: {} }]);
  return {
    server,
    forwarding: forwardChecks({
      peers,
      knownHead: (tenant) => service.store.schemas.knownHead(tenant),
      telemetry,
      patienceMs: patienceOf(config),
    }),
    close: () => {
      peers.close();
      server.close();
    },
  };
}

/** Half of the time of a check at most, so that as much is left to answer it here. */
function patienceOf(config: Config): number {
  const readMs = config["database.read_timeout"];
  return readMs === 0 ? patienceMaxMs : Math.min(patienceMaxMs, readMs / 2);
}

/**
 * The keys that instances accept from each other. Without any, everyone who reaches the port may
 * ask.
 */
function peerKeysOf(config: Config): readonly string[] {
  const own = config["distributed.preshared.keys"];
  if (own.length > 0) return own;
  return config["authn.enabled"] ? config["authn.preshared.keys"] : [];
}

/** All instances must have the same shape, or they send checks to different owners. */
export function ringShapeOf(config: Config): RingShape {
  return {
    partitions: config["distributed.partition_count"],
    points: config["distributed.replication_factor"],
    load: config["distributed.load"],
  };
}

/**
 * The credentials for calls to peers. A peer must present the certificate of this instance's gRPC
 * listener, or one that it trusts.
 */
function credentialsOf(
  config: Config,
  certificate: Certificate | undefined,
  key: string | undefined,
): PeerCredentials {
  const name = config["server.name_override"];
  return {
    channel: () =>
      certificate === undefined
        ? credentials.createInsecure()
        : credentials.createFromSecureContext(
            createSecureContext({
              ca: certificate.current.cert,
              minVersion: oldestTls,
              allowPartialTrustChain: true,
            }),
          ),
    serverName: name === "" ? undefined : name,
    key,
  };
}
