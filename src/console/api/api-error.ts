import { unansweredCodes } from "../../base/error.ts";

/** One fault of what was sent. */
export interface FaultDetail {
  readonly field?: string;
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/** Why a call has no answer. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status, 0 if no answer came, or -1 if the page itself could not do it. */
  readonly status: number;
  /** Such as `ERROR_CODE_TENANT_NOT_FOUND`, or "" if the answer has none. */
  readonly code: string;
  readonly details: readonly FaultDetail[];

  constructor(
    message: string,
    {
      status,
      code,
      details,
    }: {
      readonly status: number;
      readonly code: string;
      readonly details: readonly FaultDetail[];
    },
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** Whether the token may not do it in any tenant. */
export function lacksScope({ code }: ApiError): boolean {
  return code === "ERROR_CODE_INSUFFICIENT_SCOPE";
}

/** Whether a question was understood and has no answer. */
export function isUnanswered({ code }: ApiError): boolean {
  return unansweredCodes.has(code.replace(/^ERROR_CODE_/, ""));
}

/** Whether the state that it was about is not kept any more: what goes on from it has to begin anew. */
export function isExpired({ code }: ApiError): boolean {
  return code === "ERROR_CODE_SNAP_TOKEN_EXPIRED";
}

/** The error of a reply that is no success. `text` is its body. */
export function errorOfReply(status: number, text: string): ApiError {
  const body = parsed(text);
  const full = textAt(body, "message");
  const code = /^ERROR_CODE_\w+/.exec(full)?.[0] ?? "";
  const message = full.slice(code.length).replace(/^:\s*/, "");
  const found: unknown = typeof body === "object" && body !== null && Reflect.get(body, "details");
  const details = Array.isArray(found) ? found.map(detailOf) : [];
  return new ApiError(message === "" ? `the server answered with status ${status}` : message, {
    status,
    code,
    details,
  });
}

/** What went wrong, as an error of a call. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(message, { status: -1, code: "", details: [] });
}

function detailOf(raw: unknown): FaultDetail {
  const detail: { -readonly [Key in keyof FaultDetail]: FaultDetail[Key] } = {
    message: textAt(raw, "message"),
  };
  if (typeof raw !== "object" || raw === null) return detail;
  const { field, line, column } = raw as Partial<Record<keyof FaultDetail, unknown>>;
  if (typeof field === "string") detail.field = field;
  if (typeof line === "number") detail.line = line;
  if (typeof column === "number") detail.column = column;
  return detail;
}

function textAt(body: unknown, key: string): string {
  if (typeof body !== "object" || body === null) return "";
  const value: unknown = Reflect.get(body, key);
  return typeof value === "string" ? value : "";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
