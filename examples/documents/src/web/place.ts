import type { Order, Place } from "../data/list.ts";
import { Problem } from "../problem.ts";

/*
 * The place of a page in its address: the values of the last row before it, as base64url of JSON. It
 * comes back from the browser, so it is read as text of unknown origin. It grants nothing: the
 * page behind it has only documents that the user may view.
 */

export function writePlace(place: Place): string {
  const first = place.order === "newest" ? place.createdAt : place.title;
  return Buffer.from(JSON.stringify([place.order, first, place.id])).toString("base64url");
}

/** Reads a place in an order. Fails with 400 for all that `writePlace` does not write. */
export function readPlace(order: Order, text: string): Place {
  const [writtenOrder, first, id] = valuesOf(text);
  const isWhole = writtenOrder === order && isId(id);
  if (isWhole && order === "newest" && isTime(first)) return { order, createdAt: first, id };
  if (isWhole && order === "title" && isTitle(first)) return { order, title: first, id };
  throw new Problem(400, "This is not the address of a page. Begin with the first page.");
}

function valuesOf(text: string): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return Array.isArray(values) && values.length === 3 ? values : [];
  } catch {
    return [];
  }
}

/** Reads the id of a document in a path. Fails with 404 for what can be no id. */
export function documentId(text: string): string {
  if (isId(text)) return text;
  throw new Problem(404, "There is no such document.");
}

/** Whether a value can be the id of a document. */
function isId(value: unknown): value is string {
  return typeof value === "string" && /^[1-9]\d{0,17}$/.test(value);
}

/** A time as Postgres writes it in UTC. A day that no month has would be an error of the statement. */
function isTime(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const form = /^(?<seconds>[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,6})?\+00:00$/;
  const seconds = form.exec(value)?.groups?.["seconds"];
  if (seconds === undefined) return false;
  const time = new Date(`${seconds}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(seconds);
}

/** Titles have no NUL, which Postgres cannot hold. */
function isTitle(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= 400 &&
    value.isWellFormed() &&
    !value.includes("\0")
  );
}
