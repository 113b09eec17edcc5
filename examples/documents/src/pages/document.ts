import { type Person, peopleAtMost, type ShownDocument } from "../data/document.ts";
import { type Html, html } from "../web/html.ts";
import { layout } from "./layout.ts";

/** The page of one document. */
export function documentPage(userName: string, document: ShownDocument): Html {
  const { title, body, createdAt, mayEdit, mayShare } = document;
  const content = html`
    <p>Created on ${createdAt.slice(0, 10)}. You may ${mayEdit ? "view and edit" : "view"} it.</p>
    <p class="body">${body}</p>
    ${mayEdit ? titleForm(document) : undefined} ${mayShare ? sharing(document) : undefined}
  `;
  return layout({ title, userName, content });
}

function titleForm({ id, title }: ShownDocument): Html {
  return html`<form method="post" action="/documents/${id}/title">
    <label>Title <input name="title" value="${title}" maxlength="200" required /></label>
    <button>Rename</button>
  </form>`;
}

function sharing({ id, sharedWith, isPublic }: ShownDocument): Html {
  const isCut = sharedWith.length >= peopleAtMost;
  return html`
    <h2>Sharing</h2>
    <p>
      ${isPublic ? "Everyone may view this document." : "Only some people may view this document."}
    </p>
    <form method="post" action="/documents/${id}/everyone">
      <input type="hidden" name="may_view" value="${isPublic ? "false" : "true"}" />
      <button>${isPublic ? "Stop sharing with everyone" : "Share with everyone"}</button>
    </form>
    <ul>
      ${sharedWith.map((person) => sharedPerson(id, person))}
    </ul>
    ${isCut ? html`<p>Only the first ${peopleAtMost} people are shown.</p>` : undefined}
    <form method="post" action="/documents/${id}/share">
      <label>Id of a user <input name="user" required /></label>
      <button>Share</button>
    </form>
  `;
}

function sharedPerson(document: string, { id, name }: Person): Html {
  return html`<li>
    ${name} (${id})
    <form method="post" action="/documents/${document}/unshare">
      <input type="hidden" name="user" value="${id}" />
      <button>Stop sharing</button>
    </form>
  </li>`;
}
