import { boolean, headerWord, host, integer, type Kind, listOf, maybe, port } from "../kind.ts";
import { option } from "../option.ts";
import { peerTargetOf } from "../peer-target.ts";

const target: Kind<string> = {
  expected:
    "dns:///name:port, kubernetes:///name.namespace:port, or a list static:///host:port,host:port",
  schema: { type: "string", pattern: String.raw`^\S+:\d{1,5}$` },
  read: (text) => (peerTargetOf(text) === undefined ? undefined : text),
};

/** Relative to the average load of an instance, so it must be above 1. */
const loadFactor: Kind<number> = {
  expected: "a number from 1.01 to 100",
  schema: { anyOf: [{ type: "number", minimum: 1.01, maximum: 100 }, { type: "string" }] },
  read: (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    return value >= 1.01 && value <= 100 ? value : undefined;
  },
};

/** How instances share cached answers. */
export const distributedOptions = {
  "distributed.enabled": option(boolean, {
    flag: "distributed-enabled",
    default: "false",
    about:
      "whether checks with a snap token are sent to the instance that keeps their answers; needs Postgres",
  }),
  "distributed.address": option(maybe(target), {
    flag: "distributed-address",
    default: "",
    about: "address of all instances, with their `distributed.port`; it may include this one",
  }),
  "distributed.port": option(port, {
    flag: "distributed-port",
    default: "5000",
    about: "port for the other instances only; it has no rate limit, so keep clients away",
  }),
  "distributed.preshared.keys": option(listOf(headerWord), {
    flag: "distributed-preshared-keys",
    default: "",
    about:
      "keys of the instances: the first is sent, each is accepted; if empty and `authn.enabled` is true, `authn.preshared.keys`",
    secret: true,
  }),
  "distributed.partition_count": option(integer({ from: 1, to: 100_000 }), {
    flag: "distributed-partition-count",
    default: "271",
    about: "partitions of the checks, each of which one instance owns; equal on all instances",
  }),
  "distributed.replication_factor": option(integer({ from: 1, to: 1_000 }), {
    flag: "distributed-replication-factor",
    default: "20",
    about: "points of each instance on the hash ring; equal on all instances",
  }),
  "distributed.load": option(loadFactor, {
    flag: "distributed-load",
    default: "1.25",
    about:
      "maximum partitions of an instance, as a multiple of an even share; equal on all instances",
  }),
  "distributed.picker_width": option(integer({ from: 1, to: 100 }), {
    flag: "distributed-picker-width",
    default: "1",
    about:
      "number of instances among which one is chosen at random for a check; more than 1 spreads frequent checks",
  }),
  "server.name_override": option(maybe(host), {
    flag: "server-name-override",
    default: "",
    about: "name that the certificates of the other instances must be for; empty for their address",
    otherVariable: "NAME_OVERRIDE",
  }),
} as const;
