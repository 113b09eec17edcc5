import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { Readable } from "node:stream";

import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

/** A key that an issuer signs with. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly secret: CryptoKey;
  /** As it is published. */
  readonly published: JWK;
}

/** An OpenID Connect issuer on a port of this machine. */
export interface Issuer {
  readonly url: string;
  /** What it publishes; may be changed. */
  keys: JWK[];
  /** How often it was asked for its keys, with any answer. */
  asked: number;
  /** How it answers from now on. */
  mode: "answering" | "failing" | "garbled" | "silent" | "misnamed" | "endless";
  /** So many bytes that say nothing come with its answers. */
  padding: number;
  /** Where the keys are. */
  keysPath: string;
  /** How many requests it has been silent to. */
  held: number;
  close(): Promise<void>;
}

export async function startIssuer(...keys: readonly SigningKey[]): Promise<Issuer> {
  const server = createServer((request, response) => {
    if (request.url === issuer.keysPath) issuer.asked += 1;
    const document = documentOf(issuer, request.url ?? "");
    switch (issuer.mode) {
      case "answering":
      case "misnamed":
        reply(
          response,
          document === undefined ? 404 : 200,
          JSON.stringify(document ?? {}) + " ".repeat(issuer.padding),
        );
        break;
      case "failing":
        reply(response, 503, "{}");
        break;
      case "garbled":
        reply(response, 200, '{"keys": {}, "jwks_uri": "ftp://127.0.0.1"');
        break;
      case "endless":
        response.writeHead(200);
        Readable.from(endless()).pipe(response);
        break;
      case "silent":
        issuer.held += 1;
        break;
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const issuer: Issuer = {
    url: `http://127.0.0.1:${address.port}`,
    keys: keys.map(({ published }) => published),
    asked: 0,
    mode: "answering",
    padding: 0,
    keysPath: "/keys",
    held: 0,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return issuer;
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536, " ");
}

function documentOf({ url, keys, keysPath, mode }: Issuer, path: string): object | undefined {
  switch (path) {
    case "/.well-known/openid-configuration":
      return { issuer: mode === "misnamed" ? `${url}/` : url, jwks_uri: `${url}${keysPath}` };
    case keysPath:
      return { keys };
    default:
      return undefined;
  }
}

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(body);
}

export async function makeKey(kid: string, alg = "RS256"): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const published = { ...(await exportJWK(publicKey)), kid, alg, use: "sig" };
  return { kid, alg, secret: privateKey, published };
}

export const audience = "pemba";

/** A good token of the issuer, for five minutes from now, unless `claims` say otherwise. */
export async function signed(
  { kid, alg, secret }: SigningKey,
  issuer: string,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const all = { iss: issuer, aud: audience, sub: "ada", iat: now, exp: now + 300, ...claims };
  return await new SignJWT(all).setProtectedHeader({ alg, kid }).sign(secret);
}
