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
      "whether checks that name a state go to the instance that keeps their answers; needs Postgres",
  }),
  "distributed.address": option(maybe(target), {
    flag: "distributed-address",
    default: "",
    about: "where all instances are found, at their `distributed.port`; this one may be among them",
  }),
  "distributed.port": option(port, {
    flag: "distributed-port",
    default: "5000",
    about: "port for the other instances alone; without rate limit, so not for clients",
  }),
  "distributed.preshared.keys": option(listOf(headerWord), {
    flag: "distributed-preshared-keys",
    default: "",
    about:
      "keys of which instances show each other the first and accept any; empty for `authn.preshared.keys` where tokens are asked for",
    secret: true,
  }),
  "distributed.partition_count": option(integer({ from: 1, to: 100_000 }), {
    flag: "distributed-partition-count",
    default: "271",
    about: "parts into which checks are divided, each of which an instance has; the same on all",
  }),
  "distributed.replication_factor": option(integer({ from: 1, to: 1_000 }), {
    flag: "distributed-replication-factor",
    default: "20",
    about: "points of each instance on the ring that divides the parts; the same on all",
  }),
  "distributed.load": option(loadFactor, {
    flag: "distributed-load",
    default: "1.25",
    about: "most parts that an instance has, as a multiple of an even share; the same on all",
  }),
  "distributed.picker_width": option(integer({ from: 1, to: 100 }), {
    flag: "distributed-picker-width",
    default: "1",
    about: "instances among which each check is sent to any: more share what is asked often",
  }),
  "server.name_override": option(maybe(host), {
    flag: "server-name-override",
    default: "",
    about: "name that the certificates of the other instances must be for; empty for their address",
    otherVariable: "NAME_OVERRIDE",
  }),
} as const;
