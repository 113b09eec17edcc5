import { type Html, html } from "../web/html.ts";

/** A whole page. `userName` is of the user who is signed in, if one is. */
export function layout({
  title,
  userName,
  content,
}: {
  readonly title: string;
  readonly userName?: string | undefined;
  readonly content: Html;
}): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <header>
          <a href="/">Documents</a>
          ${userName === undefined ? undefined : userMenu(userName)}
        </header>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `;
}

function userMenu(userName: string): Html {
  return html`<form method="post" action="/sign-out">
    Signed in as ${userName} <button>Sign out</button>
  </form>`;
}

/** A page with one sentence, for what went wrong. */
export function messagePage(title: string, message: string): Html {
  const content = html`<p>${message}</p>
    <p><a href="/">All documents</a></p>`;
  return layout({ title, content });
}
