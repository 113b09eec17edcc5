import { Type } from "typebox";

import { PembaError } from "../../base/error.ts";
import { askTenant } from "../client/ask.ts";
import { readServerSchema } from "../client/head-schema.ts";
import type { Server } from "../client/send.ts";
import { SnapTokenAnswer } from "../data/fact-answers.ts";
import { digestBundles } from "./bundle-lines.ts";

/** A state of a tenant, and what it has besides facts. */
export interface ExportState {
  /** "" for a tenant without a schema, which has no facts. */
  readonly snapToken: string;
  /** Undefined if there is none. */
  readonly schema: string | undefined;
  /** Of the bundles at that state. */
  readonly bundlesDigest: string;
}

const HeadAnswer = Type.Object({ head: Type.String() });

/** Each repetition means that the schema was written meanwhile. */
const maxAttempts = 10;

/**
 * Reads the schema, the bundles and the token of one state: both are read before and after the token
 * is given out, and are the same. Versions never return, so the head did not change in between.
 */
export async function readExportState(
  server: Server,
  givenToken: string | undefined,
): Promise<ExportState> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const head = await headOf(server);
    const bundlesDigest = await digestBundles(server);
    if (head === "") return { snapToken: "", schema: undefined, bundlesDigest };
    const schema = await readServerSchema(server, head);
    const snapToken = givenToken ?? (await presentToken(server));
    if ((await headOf(server)) === head) return { snapToken, schema, bundlesDigest };
  }
  throw new PembaError("SERIALIZATION", "export: the schema changed again and again, try later");
}

async function headOf(server: Server): Promise<string> {
  const request = { body: { page_size: 1 }, answer: HeadAnswer };
  return (await askTenant(server, "schemas/list", request)).head;
}

/** A write without tuples and attributes changes nothing, and answers the present state. */
async function presentToken(server: Server): Promise<string> {
  const body = { metadata: {}, tuples: [], attributes: [] };
  return (await askTenant(server, "data/write", { body, answer: SnapTokenAnswer })).snap_token;
}
