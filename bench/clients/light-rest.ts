import type { Socket } from "node:net";

import { must } from "../../src/base/assert.ts";
import { firstTenant } from "../../test/data/ask-store.ts";
import type { Question } from "../../test/data/dataset.ts";
import { keptFor, type LightConnection } from "./light-connection.ts";

const endOfHead = "\r\n\r\n";

/** Asks one check at a time. `address` is host and port. */
export function askOverRest(socket: Socket, address: string): LightConnection {
  let waiting: PromiseWithResolvers<boolean> | undefined;
  let come = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    come += chunk;
    const head = come.indexOf(endOfHead);
    if (head < 0) return;
    const length = must(/content-length: (\d+)/i.exec(come), "answers have a length")[1];
    if (come.length < head + endOfHead.length + Number(length)) return;
    const answer = come;
    come = "";
    if (answer.startsWith("HTTP/1.1 200 ")) waiting?.resolve(answer.includes('"RESULT_ALLOWED"'));
    else waiting?.reject(new Error(answer));
  });
  socket.on("close", () => waiting?.reject(new Error("the connection was closed")));
  const bytesOf = keptFor((question: Question) => requestOf(question, address));
  return {
    ask: async (question) => {
      if (socket.destroyed) throw new Error("the connection was closed");
      waiting = Promise.withResolvers();
      socket.write(bytesOf(question));
      return await waiting.promise;
    },
    close: () => socket.destroy(),
  };
}

function requestOf({ entity, permission, user }: Question, address: string): string {
  const subject = { type: "user", id: user };
  const body = JSON.stringify({ metadata: {}, entity, permission, subject });
  const head = [
    `POST /v1/tenants/${firstTenant}/permissions/check HTTP/1.1`,
    `host: ${address}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return head.join("\r\n") + endOfHead + body;
}
