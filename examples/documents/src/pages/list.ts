import {
  countedAtMost,
  type ListedDocument,
  type ListPage,
  type ListQuery,
  type Order,
  orders,
  type Place,
} from "../data/list.ts";
import { type Html, html } from "../web/html.ts";
import { writePlace } from "../web/place.ts";
import { layout } from "./layout.ts";

const orderNames: Readonly<Record<Order, string>> = { newest: "Newest first", title: "By title" };

/** The page of the documents that a user may view. */
export function listPage(page: ListPage, query: ListQuery): Html {
  const content = html`
    <form method="get" action="/" role="search">
      <label>Title contains <input name="search" value="${query.search}" /></label>
      <label>
        Order
        <select name="order">
          ${orders.map((order) => orderOption(order, query.order))}
        </select>
      </label>
      <button>Show</button>
    </form>
    <p class="count">You may view ${countText(page.visibleCount)}.</p>
    ${page.documents.length === 0 ? html`<p>There is nothing to show here.</p>` : table(page)}
    ${nextPage(page, query)}
  `;
  return layout({ title: "Documents", userName: page.userName, content });
}

function orderOption(order: Order, chosen: Order): Html {
  const name = orderNames[order];
  return order === chosen
    ? html`<option value="${order}" selected>${name}</option>`
    : html`<option value="${order}">${name}</option>`;
}

function countText(count: number): string {
  if (count > countedAtMost) return `more than ${countedAtMost.toLocaleString("en")} documents`;
  return count === 1 ? "1 document" : `${count.toLocaleString("en")} documents`;
}

function table({ documents }: ListPage): Html {
  return html`<table>
    <thead>
      <tr>
        <th>Title</th>
        <th>Folder</th>
        <th>Created</th>
        <th>You may</th>
      </tr>
    </thead>
    <tbody>
      ${documents.map(tableRow)}
    </tbody>
  </table>`;
}

function tableRow({ id, title, folder, createdAt, mayEdit }: ListedDocument): Html {
  return html`<tr>
    <td><a href="/documents/${id}">${title}</a></td>
    <td>${folder ?? "–"}</td>
    <td>${createdAt.slice(0, 10)}</td>
    <td>${mayEdit ? "edit" : "view"}</td>
  </tr>`;
}

function nextPage(
  { documents, hasMore }: ListPage,
  { order, search }: ListQuery,
): Html | undefined {
  const last = documents.at(-1);
  if (!hasMore || last === undefined) return undefined;
  const after = writePlace(placeOf(order, last));
  const address = `/?${new URLSearchParams({ search, order, after }).toString()}`;
  return html`<p><a rel="next" href="${address}">Next page</a></p>`;
}

function placeOf(order: Order, { id, title, createdAt }: ListedDocument): Place {
  return order === "newest" ? { order, createdAt, id } : { order, title, id };
}
