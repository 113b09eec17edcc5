import type { FastifyInstance } from "fastify";

import { isUser, readUsers } from "../data/users.ts";
import { signInPage } from "../pages/sign-in.ts";
import type { Parts } from "../parts.ts";
import { Problem } from "../problem.ts";
import { formField } from "../web/form.ts";
import { sendPage } from "../web/send-page.ts";
import { signIn, signOut } from "../web/session.ts";

/** The sign-in: `GET /sign-in`, `POST /sign-in`, `POST /sign-out`. */
export function sessionRoutes(application: FastifyInstance, { database }: Parts): void {
  application.get("/sign-in", async (_request, reply) =>
    sendPage(reply, signInPage(await readUsers(database))),
  );
  application.post("/sign-in", async (request, reply) => {
    const user = formField(request, "user", 100);
    if (!(await isUser(database, user))) throw new Problem(400, `There is no user "${user}".`);
    return signIn(reply, user);
  });
  application.post("/sign-out", (_request, reply) => signOut(reply));
}
