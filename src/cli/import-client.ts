import { fieldOf, serverMessageOf } from "./client/fields.ts";
import { sendRepeatedly } from "./client/repeat.ts";
import { type Repetition, type Server, tenantPath } from "./client/send.ts";
import type { Element, ImportedPart } from "./import-line.ts";
import { withoutCode } from "./output.ts";

/** The outcome of one batch. */
export type WriteOutcome =
  /** Each element was written, or existed already. */
  | { readonly kind: "accepted" }
  /** `reasons` names the bad elements by their index in the batch; it is empty when none is named. */
  | {
      readonly kind: "refused";
      readonly message: string;
      readonly reasons: ReadonlyMap<number, string>;
    };

/** The server cannot be used, so the import stops. */
export class ImportStopped extends Error {
  override readonly name = "ImportStopped";
}

/**
 * Writes all of the batch or nothing over REST. Fails with ImportStopped if the server cannot be used,
 * and with the reason of the signal of `repetition` if that is aborted.
 */
export async function writeBatch(
  target: Server,
  batch: readonly Element[],
  repetition: Repetition,
): Promise<WriteOutcome> {
  const path = tenantPath(target, "data/write");
  const request = { method: "POST", path, body: bodyOf(batch) } as const;
  const answer = await sendRepeatedly(target, request, repetition);
  if (answer.kind === "answer") {
    if (answer.status === 200) return { kind: "accepted" };
    if (answer.status === 400 || answer.status === 413) return refusalOf(answer.body, batch);
  }
  throw new ImportStopped(answer.message);
}

/** Writes a schema or a bundle. Fails as `writeBatch` does. */
export async function writePart(
  target: Server,
  part: ImportedPart,
  repetition: Repetition,
): Promise<WriteOutcome> {
  const path = tenantPath(target, part.kind === "schema" ? "schemas/write" : "bundle/write");
  const answer = await sendRepeatedly(
    target,
    { method: "POST", path, body: part.body },
    repetition,
  );
  if (answer.kind === "answer" && answer.status === 200) return { kind: "accepted" };
  const isRefusal = answer.kind === "answer" && (answer.status === 400 || answer.status === 413);
  if (!isRefusal) throw new ImportStopped(answer.message);
  const message = withoutCode(answer.problem);
  // What follows a schema is meant for it. A fault in its text begins with its line and column.
  if (part.kind === "schema") {
    throw new ImportStopped(/^\d+:\d+: /.test(message) ? `schema:${message}` : message);
  }
  return { kind: "refused", message, reasons: new Map() };
}

function bodyOf(batch: readonly Element[]): string {
  const list = (kind: Element["kind"]): string =>
    batch
      .filter((element) => element.kind === kind)
      .map(({ json }) => json)
      .join(",");
  return `{"metadata":{},"tuples":[${list("tuple")}],"attributes":[${list("attribute")}]}`;
}

/** A refusal of a field outside the elements would be the same for every batch. */
function refusalOf(body: unknown, batch: readonly Element[]): WriteOutcome {
  const message = serverMessageOf(body) ?? "was refused without a reason";
  const faults = detailsOf(body);
  if (faults.length === 0) faults.push({ field: message, message });
  const reasons = new Map<number, string>();
  let outside = false;
  for (const fault of faults) {
    const [, list, position, inner] =
      /\b(tuples|attributes)(?:\[(\d+)\]\.?([\w.@[\]]*))?/.exec(fault.field) ?? [];
    if (list === undefined) outside = true;
    if (position === undefined) continue;
    const index = indexOf(batch, list === "tuples" ? "tuple" : "attribute", Number(position));
    const place =
      inner === undefined || inner === "" || fault.field === message ? "" : `${inner}: `;
    if (index !== undefined && !reasons.has(index)) reasons.set(index, place + fault.message);
  }
  if (outside && detailsOf(body).length > 0) throw new ImportStopped(message);
  return { kind: "refused", message, reasons };
}

/** The index in the batch of the n-th element of a kind. */
function indexOf(
  batch: readonly Element[],
  kind: Element["kind"],
  position: number,
): number | undefined {
  let seen = -1;
  const index = batch.findIndex((element) => element.kind === kind && ++seen === position);
  return index < 0 ? undefined : index;
}

function detailsOf(body: unknown): { readonly field: string; readonly message: string }[] {
  const details = fieldOf(body, "details");
  if (!Array.isArray(details)) return [];
  return details.flatMap((detail: unknown) => {
    const field = fieldOf(detail, "field");
    const message = fieldOf(detail, "message");
    return typeof field === "string" && typeof message === "string" ? [{ field, message }] : [];
  });
}
