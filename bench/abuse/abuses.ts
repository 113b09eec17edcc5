import type { MessageInitShape } from "@bufbuild/protobuf";

import { must } from "../../src/base/assert.ts";
import type { ContextSchema } from "../../src/gen/base/v1/context_pb.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { answerOf, openGrpc, openRest, statusOf } from "./connections.ts";
import { holdConnections, holdSessions, trickleBodies } from "./held.ts";
import {
  type AbuseTarget,
  grpcCheck,
  grpcMessage,
  grpcPath,
  restRequest,
  sceneCheck,
  tupleOf,
} from "./requests.ts";
import { type Count, Reopened, rounds } from "./rounds.ts";
import { watchUnread } from "./unread.ts";

/** What one tenant does to a server. */
export interface Abuse {
  readonly name: string;
  readonly about: string;
  /** Goes on until the signal is aborted. */
  readonly run: (target: AbuseTarget, count: Count, signal: AbortSignal) => Promise<void>;
}

const checksAtOnce = 10_000;
const bodiesAtOnce = 400;
const bodyBytes = 3_000_000;
const contextKeys = 200_000;
const contextsAtOnce = 40;
const schemaBytes = 1_500_000;
const schemasAtOnce = 40;

export const abuses: readonly Abuse[] = [
  {
    name: "rest-checks",
    about: `${checksAtOnce} checks at once over REST`,
    run: async (target, count, signal) =>
      await restRounds(target, count, signal, {
        at: checksAtOnce,
        path: "permissions/check",
        bodies: [JSON.stringify(sceneCheck)],
      }),
  },
  {
    name: "grpc-checks",
    about: `${checksAtOnce} checks at once over gRPC, on one connection`,
    run: async (target, count, signal) =>
      await grpcRounds(target, count, signal, {
        at: checksAtOnce,
        connections: 1,
        path: grpcPath(Permission.method.check),
        message: grpcMessage(Permission.method.check, grpcCheck(target.tenant)),
      }),
  },
  {
    name: "rest-bodies",
    about: `${bodiesAtOnce} bodies of 3 MB at once over REST`,
    run: async (target, count, signal) => {
      const body = JSON.stringify({ metadata: {}, tuples: manyTuples() });
      await restRounds(target, count, signal, {
        at: bodiesAtOnce,
        path: "data/write",
        bodies: [body],
      });
    },
  },
  {
    name: "grpc-bodies",
    about: `${bodiesAtOnce} messages of 3 MB at once over gRPC`,
    run: async (target, count, signal) =>
      await grpcRounds(target, count, signal, {
        at: bodiesAtOnce,
        connections: 8,
        path: grpcPath(Data.method.write),
        message: grpcMessage(Data.method.write, {
          tenantId: target.tenant,
          metadata: {},
          tuples: manyTuples(),
        }),
      }),
  },
  {
    name: "rest-contexts",
    about: `${contextsAtOnce} contexts of ${contextKeys} keys at once over REST`,
    run: async (target, count, signal) => {
      const body = JSON.stringify({ ...sceneCheck, context: { data: manyKeys() } });
      await restRounds(target, count, signal, {
        at: contextsAtOnce,
        path: "permissions/check",
        bodies: [body],
      });
    },
  },
  {
    name: "grpc-contexts",
    about: `${contextsAtOnce} contexts of ${contextKeys} keys at once over gRPC`,
    run: async (target, count, signal) => {
      const context: MessageInitShape<typeof ContextSchema> = { data: manyKeys() };
      await grpcRounds(target, count, signal, {
        at: contextsAtOnce,
        connections: 1,
        path: grpcPath(Permission.method.check),
        message: grpcMessage(Permission.method.check, { ...grpcCheck(target.tenant), context }),
      });
    },
  },
  {
    name: "rest-schemas",
    about: `${schemasAtOnce} schemas of 1.5 MB at once over REST`,
    run: async (target, count, signal) => {
      const schemas = Array.from({ length: schemasAtOnce }, (_, nth) =>
        JSON.stringify({ schema: largeSchema(nth) }),
      );
      await restRounds(target, count, signal, {
        at: schemasAtOnce,
        path: "schemas/write",
        bodies: schemas,
      });
    },
  },
  {
    name: "grpc-schemas",
    about: `${schemasAtOnce} schemas of 1.5 MB at once over gRPC`,
    run: async (target, count, signal) =>
      await grpcRounds(target, count, signal, {
        at: schemasAtOnce,
        connections: 1,
        path: grpcPath(Schema.method.write),
        message: grpcMessage(Schema.method.write, {
          tenantId: target.tenant,
          schema: largeSchema(0),
        }),
      }),
  },
  {
    name: "watch",
    about:
      "200 streams of changes that are not read, half of each transport, while much is written",
    run: watchUnread,
  },
  {
    name: "connections",
    about: "10,000 connections of REST that have asked once and are idle",
    run: holdConnections,
  },
  {
    name: "grpc-connections",
    about: "10,000 connections of gRPC that have asked once and are idle",
    run: holdSessions,
  },
  {
    name: "slow-bodies",
    about: `${bodiesAtOnce} bodies of 3 MB over REST of which the end comes byte by byte`,
    run: async (target, count, signal) =>
      await trickleBodies(target, count, signal, { at: bodiesAtOnce, bytes: bodyBytes }),
  },
];

async function restRounds(
  target: AbuseTarget,
  count: Count,
  signal: AbortSignal,
  asked: {
    readonly at: number;
    readonly path: string;
    /** In turn. */
    readonly bodies: readonly string[];
  },
): Promise<void> {
  const sockets = new Reopened(
    async () => await openRest(target),
    (socket) => !socket.destroyed && socket.writable,
  );
  // Made once: to make them takes more of the machine than to send them.
  const requests = asked.bodies.map((body) => restRequest(target, asked.path, body));
  await rounds(count, signal, {
    at: asked.at,
    work: async (nth) =>
      await answerOf(
        await sockets.at(nth),
        must(requests[nth % requests.length], "there is a body"),
      ),
  });
}

async function grpcRounds(
  target: AbuseTarget,
  count: Count,
  signal: AbortSignal,
  asked: {
    readonly at: number;
    readonly connections: number;
    readonly path: string;
    readonly message: Buffer;
  },
): Promise<void> {
  const sessions = new Reopened(
    async () => await openGrpc(target),
    (session) => !session.destroyed && !session.closed,
  );
  await rounds(count, signal, {
    at: asked.at,
    work: async (nth) =>
      await statusOf(await sessions.at(nth % asked.connections), asked.path, asked.message),
  });
}

function manyTuples() {
  const bytes = JSON.stringify(tupleOf(`document:${nameOf(0)}#owner@user:${nameOf(0)}`)).length + 1;
  return Array.from({ length: Math.floor(bodyBytes / bytes) }, (_, nth) =>
    tupleOf(`document:${nameOf(nth)}#owner@user:${nameOf(nth)}`),
  );
}

function nameOf(nth: number): string {
  return `n${String(nth).padStart(7, "0")}`;
}

/** Short ones, so that the message of them all is no larger than a message may be. */
function manyKeys(): Record<string, boolean> {
  return Object.fromEntries(
    Array.from({ length: contextKeys }, (_, nth) => [`k${nth}`, true] as const),
  );
}

/** Each `nth` is another text. */
function largeSchema(nth: number): string {
  const entities: string[] = [`entity user {}\n// ${nth}\n`];
  let length = 0;
  for (let index = 0; length < schemaBytes; index++) {
    const entity = `entity ${letters(index)} {\n  relation viewer @user\n  relation owner @user\n  permission view = viewer or owner\n}\n`;
    length += entity.length;
    entities.push(entity);
  }
  return entities.join("");
}

function letters(number: number): string {
  return `e_${String(number).replaceAll(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "")}`;
}
