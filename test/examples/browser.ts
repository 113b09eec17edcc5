import type { AddressInfo } from "node:net";

import type { FastifyInstance } from "fastify";

/** What came back, with redirects followed. */
export interface Visit {
  readonly status: number;
  readonly text: string;
}

/** One user who looks at pages and sends forms, with a cookie. */
export interface Browser {
  readonly open: (address: string) => Promise<Visit>;
  readonly send: (address: string, form: Readonly<Record<string, string>>) => Promise<Visit>;
}

/** A browser that is signed in as a user; `headers` come with each request. */
export function browserOf(
  application: FastifyInstance,
  user: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Browser {
  const { port } = application.server.address() as AddressInfo;
  const cookie = user === undefined ? {} : { cookie: `user=${encodeURIComponent(user)}` };
  const visit = async (address: string, init: RequestInit): Promise<Visit> => {
    const response = await fetch(new URL(address, `http://127.0.0.1:${port}`), {
      ...init,
      headers: { ...cookie, ...headers },
    });
    return { status: response.status, text: await response.text() };
  };
  return {
    open: (address) => visit(address, {}),
    send: (address, form) => visit(address, { method: "POST", body: new URLSearchParams(form) }),
  };
}

/** The ids of the documents that a page lists, in their order. */
export function listedIds({ text }: Visit): readonly string[] {
  return [...text.matchAll(/<a href="\/documents\/(\d+)">/g)].map(([, id = ""]) => id);
}

/** Opens a list and the pages behind it, at most `pages` of them, and answers the ids of each page. */
export async function walkPages(
  browser: Browser,
  address: string,
  pages = Number.POSITIVE_INFINITY,
): Promise<readonly (readonly string[])[]> {
  const walked: (readonly string[])[] = [];
  for (let next: string | undefined = address; next !== undefined && walked.length < pages;) {
    const visit = await browser.open(next);
    if (visit.status !== 200) throw new Error(`${next}: ${visit.status} ${visit.text}`);
    walked.push(listedIds(visit));
    next = /rel="next" href="([^"]*)"/.exec(visit.text)?.[1]?.replaceAll("&amp;", "&");
  }
  return walked;
}
