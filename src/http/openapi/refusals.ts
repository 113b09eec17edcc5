import { insufficientScope } from "../../auth/credential.ts";
import { createRateLimit, tooManyRequests } from "../../auth/rate-limit.ts";
import { errorCodes, errorOf, fieldError, PembaError } from "../../base/error.ts";
import { statusOf } from "../../base/status.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { missingField, parseTenantId } from "../../service/field.ts";
import { tenantNotFound, tenantTaken } from "../../store/store-error.ts";
import { errorBody, statusBody } from "../error-body.ts";
import type { JsonForm } from "../json-form.ts";
import { errorAnswer, streamErrorAnswer } from "../shapes/error.ts";
import type { JsonSchema } from "../shapes/field.ts";
import { describeMessage } from "./describe-message.ts";
import { type Components, describeShape } from "./describe-shape.ts";

/** A status that refuses requests, with its description. */
interface DescribedRefusal {
  /** The name of the response component. */
  readonly name: string;
  readonly about: string;
  readonly example: PembaError;
  readonly headers?: JsonSchema;
}

const header = (description: string, type = "string"): JsonSchema => ({
  description,
  schema: { type },
});

const refusals = {
  400: {
    name: "BadRequest",
    about: "The request has a fault. The message names its place.",
    example: missingField("metadata", "an object"),
  },
  401: {
    name: "Unauthenticated",
    about: "The server needs a token, and the request has no valid one.",
    example: new PembaError(
      "MISSING_BEARER_TOKEN",
      "authorization: is missing, expected `Bearer <token>`",
    ),
    headers: { "WWW-Authenticate": header("`Bearer`.") },
  },
  403: {
    name: "Forbidden",
    about: "The token is valid, but it lacks the scope or is for other tenants.",
    example: insufficientScope("check"),
    headers: { "WWW-Authenticate": header('`Bearer error="insufficient_scope"`.') },
  },
  404: {
    name: "NotFound",
    about: "There is no such tenant, version of its schema or bundle.",
    example: tenantNotFound(parseTenantId("missing")),
  },
  409: {
    name: "Conflict",
    about:
      "The id exists already, or other requests held what this one needs: then it can be sent again.",
    example: tenantTaken(parseTenantId("t1")),
  },
  412: {
    name: "PreconditionFailed",
    about: "A precondition does not hold, and nothing was changed. The details name each of them.",
    example: fieldError(
      "PRECONDITION_FAILED",
      "preconditions[0].tuple",
      "`document:plan#viewer@user:ada` does not exist",
    ),
  },
  413: {
    name: "TooLarge",
    about: "The body has more than 4 MiB.",
    example: new PembaError("PAYLOAD_TOO_LARGE", "body: is too large, expected at most 4 MiB"),
  },
  429: {
    name: "TooManyRequests",
    about: "Too many requests per second, or too many are waiting.",
    example: tooManyRequests(createRateLimit(100)),
    headers: { "Retry-After": header("Seconds after which to ask again.", "integer") },
  },
  500: {
    name: "Internal",
    about: "A fault in the server. Its log has the cause under the id in `X-Request-Id`.",
    example: errorOf(undefined),
  },
  501: {
    name: "NotImplemented",
    about: "The configuration of the server does not enable it.",
    example: new PembaError(
      "NOT_IMPLEMENTED",
      "watch is not enabled on this server: see `service.watch.enabled`",
    ),
  },
  503: {
    name: "Unavailable",
    about:
      "The database does not answer, or the server is stopping. A change may have been made; it can be sent again.",
    example: new PembaError("UNAVAILABLE", "the database does not answer"),
  },
  504: {
    name: "DeadlineExceeded",
    about:
      "The time in `Grpc-Timeout` is over, or the database ended the statement because of its own timeout or an operator.",
    example: new PembaError(
      "DEADLINE_EXCEEDED",
      "the database cancelled the request before it was done, it may be too slow",
    ),
  },
} as const satisfies Readonly<Record<number, DescribedRefusal>>;

type RefusedStatus = keyof typeof refusals;

/** The statuses with which an operation can refuse, by its path. */
export function refusalsOf(path: string): readonly RefusedStatus[] {
  // Requests for the health are not counted, need no token and get 503 as a regular answer.
  if (!path.startsWith("/v1/")) return [400, 413, 500];
  return [
    400,
    401,
    403,
    ...(path.includes("{") ? ([404] as const) : []),
    409,
    ...(/\/(change|activate)$/.test(path) ? ([412] as const) : []),
    413,
    429,
    500,
    ...(path.endsWith("/watch") ? ([501] as const) : []),
    503,
    504,
  ];
}

/** A reference to the response component. */
export function refusalReference(status: RefusedStatus): JsonSchema {
  return { $ref: `#/components/responses/${refusals[status].name}` };
}

/** The response of a stream, in which an error replaces an item. */
export function streamRefusal(
  status: RefusedStatus,
  form: JsonForm,
  components: Components,
): JsonSchema {
  const { example } = refusals[status];
  if (form === "documented") {
    const body = describeShape(streamErrorAnswer, components);
    return responseOf(refusals[status], body, { error: errorBody(example) });
  }
  const body = describeMessage(StatusSchema, components);
  const schema = { type: "object", properties: { error: body }, required: ["error"] };
  return responseOf(refusals[status], schema, { error: statusBody(example) });
}

/** All response components by name. */
export function refusalResponses(form: JsonForm, components: Components): JsonSchema {
  const isDocumented = form === "documented";
  const body = isDocumented
    ? describeShape(errorAnswer, components)
    : describeMessage(StatusSchema, components);
  const { 501: ofWatch, ...others } = refusals;
  // Errors of streams have an envelope in the JSON of protobuf, so no operation refers to that of watch.
  const known = Object.values(isDocumented ? { ...others, 501: ofWatch } : others);
  const responses = known.map((refusal) => {
    const example = isDocumented ? errorBody(refusal.example) : statusBody(refusal.example);
    return [refusal.name, responseOf(refusal, body, example)];
  });
  return Object.fromEntries(responses);
}

function responseOf(refusal: DescribedRefusal, schema: JsonSchema, example: unknown): JsonSchema {
  return {
    description: `${refusal.about} Its codes: ${codesOf(refusal.example).join(", ")}.`,
    headers: { ...requestIdHeader, ...refusal.headers },
    content: { "application/json": { schema, example } },
  };
}

/** The header of every answer. */
export const requestIdHeader: JsonSchema = {
  "X-Request-Id": header(
    "The id of the request in the log: the one in the request, else a new one.",
  ),
};

/** All codes with the same status as the example. */
function codesOf({ kind }: PembaError): readonly string[] {
  return Object.entries(errorCodes)
    .filter(([, other]) => statusOf[other].http === statusOf[kind].http)
    .map(([code]) => `\`ERROR_CODE_${code}\``);
}
