import { timeoutPattern } from "../deadline.ts";
import type { JsonSchema } from "../shapes/about.ts";

const name = "Timeout";

/** The header that every operation of `/v1/` takes, by the name of the component that describes it. */
export const timeoutParameters: JsonSchema = {
  [name]: {
    name: "Grpc-Timeout",
    in: "header",
    required: false,
    description:
      "How long the client waits, in hours, minutes, seconds, milli-, micro- or nanoseconds (`H`, `M`, `S`, `m`, `u`, `n`): then the request is answered with 504, and what it waits for ends.",
    schema: { type: "string", pattern: timeoutPattern.source },
    example: "500m",
  },
};

/** What stands for it in an operation. */
export const timeoutReference: JsonSchema = { $ref: `#/components/parameters/${name}` };
