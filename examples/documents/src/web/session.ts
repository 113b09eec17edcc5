import type { FastifyReply, FastifyRequest } from "fastify";

/*
 * This stands for a real sign-in: the cookie holds the id of the user in plain text, and anyone can
 * choose any user. Replace it by your own sessions.
 */

const cookie = "user";
const attributes = "Path=/; HttpOnly; SameSite=Lax";

/** The id of the user who is signed in, or `undefined`. It may be the id of no user. */
export function signedInUser({ headers }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? "").split(/;\s*/).map((pair) => pair.split("="));
  const value = pairs.find(([name]) => name === cookie)?.[1];
  return value === undefined ? undefined : decoded(value);
}

/** Makes the browser keep the user, and shows the first page. */
export function signIn(reply: FastifyReply, user: string): FastifyReply {
  const value = encodeURIComponent(user);
  return reply.header("set-cookie", `${cookie}=${value}; ${attributes}`).redirect("/", 303);
}

/** Makes the browser forget the user, and shows the sign-in. */
export function signOut(reply: FastifyReply): FastifyReply {
  return reply
    .header("set-cookie", `${cookie}=; Max-Age=0; ${attributes}`)
    .redirect("/sign-in", 303);
}

/** A cookie that was made up may be text that cannot be decoded, or that Postgres cannot hold. */
function decoded(value: string): string | undefined {
  try {
    const user = decodeURIComponent(value);
    return user === "" || user.includes("\0") ? undefined : user;
  } catch {
    return undefined;
  }
}
