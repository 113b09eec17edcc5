import { Agent, fetch, Pool } from "undici";

import type { SnapToken } from "../../src/base/tuple.ts";
import { firstTenant } from "../../test/data/ask-store.ts";
import type { Lookup } from "../../test/data/dataset.ts";
import { type Client, filterOf, type Pins } from "./client.ts";

/** Asks over REST, on connections that stay open. */
export interface RestClient extends Client {
  /** The text of an answer; fails when the status is not 200. `path` goes on behind the tenant. */
  readonly post: Post;
}

export type Post = (path: string, body: object) => Promise<string>;

/** Connects, to ask as the first tenant. */
export function connectRest(url: string, connections: number): RestClient {
  const pool = new Pool(url, { connections });
  const post: Post = async (path, body) => await postOn(pool, `${firstTenant}/${path}`, body);
  return {
    post,
    check: async ({ entity, permission, user }, pins) => {
      const subject = { type: "user", id: user };
      const metadata = metadataOf(pins);
      const answer = await post("permissions/check", { entity, permission, subject, metadata });
      return answer.includes('"RESULT_ALLOWED"');
    },
    lookUp: async (lookup, { limit, ...pins }) => {
      const { path, body } = lookupOf(lookup);
      const page = { metadata: metadataOf(pins), page_size: limit };
      const answer: FoundIds = JSON.parse(await post(path, { ...body, ...page }));
      return answer.entity_ids ?? answer.subject_ids ?? [];
    },
    follow: (after, signal) => follow(url, after, signal),
    write: async (tuples) => {
      await post("data/write", { metadata: {}, tuples });
    },
    delete: async (tuple) => {
      await post("data/delete", { tuple_filter: filterOf(tuple), attribute_filter: {} });
    },
    close: async () => await pool.close(),
  };
}

/**
 * @param path goes on behind `tenants`
 * @returns the text of the answer; fails when the status is not 200
 */
export async function postOn(pool: Pool, path: string, body: object): Promise<string> {
  const { statusCode, body: answer } = await pool.request({
    method: "POST",
    headers: { "content-type": "application/json" },
    path: `/v1/tenants/${path}`,
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`${statusCode} of ${path}: ${text}`);
  return text;
}

/** The request of a lookup, without metadata and the size of its page. */
export function lookupOf(lookup: Lookup): { readonly path: string; readonly body: object } {
  const { permission } = lookup;
  if (lookup.kind === "entities") {
    const subject = { type: "user", id: lookup.user };
    const body = { permission, entity_type: lookup.entityType, subject };
    return { path: "permissions/lookup-entity", body };
  }
  const body = { permission, entity: lookup.entity, subject_reference: { type: "user" } };
  return { path: "permissions/lookup-subject", body };
}

interface FoundIds {
  readonly entity_ids?: readonly string[];
  readonly subject_ids?: readonly string[];
}

function metadataOf({ snapToken, depth }: Pins = {}): object {
  return {
    ...(snapToken !== undefined && { snap_token: snapToken }),
    ...(depth !== undefined && { depth }),
  };
}

interface Line {
  readonly data_changes: {
    readonly changes: readonly { readonly tuple: { readonly entity: { readonly id: string } } }[];
  };
}

/** Nothing comes while nothing changes. */
const patient = new Agent({ bodyTimeout: 0 });

async function* follow(
  url: string,
  after: SnapToken,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const response = await fetch(`${url}/v1/tenants/${firstTenant}/watch`, {
    method: "POST",
    body: JSON.stringify({ snap_token: after }),
    signal,
    dispatcher: patient,
  });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") continue;
      const { data_changes: message }: Line = JSON.parse(line);
      yield message.changes.map(({ tuple }) => tuple.entity.id);
    }
  }
}
