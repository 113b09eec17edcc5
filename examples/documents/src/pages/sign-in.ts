import type { Person } from "../data/document.ts";
import { type Html, html } from "../web/html.ts";
import { layout } from "./layout.ts";

export function signInPage(users: readonly Person[]): Html {
  const content = html`
    <p>This stands for a real sign-in: choose who you are. There is no password.</p>
    <form method="post" action="/sign-in">
      <label>
        User
        <select name="user">
          ${users.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}
        </select>
      </label>
      <button>Sign in</button>
    </form>
  `;
  return layout({ title: "Sign in", content });
}
