import type { DescMessage, MessageShape } from "@bufbuild/protobuf";

import type { Intake } from "../intake/intake.ts";
import { tooManyValues } from "../intake/values.ts";
import { countValues } from "./count-values.ts";
import { decodeMessage, recursionLimit } from "./message.ts";
import { tenantIn } from "./tenant-in.ts";

/**
 * Waits in the queue of large bodies, reads the request, and waits again before the request goes on. Fails
 * with VALIDATION, and with PAYLOAD_TOO_LARGE when it holds too many values.
 */
export async function decodeLarge<D extends DescMessage>(
  schema: D,
  bytes: Buffer,
  intake: Intake,
): Promise<MessageShape<D>> {
  const tenant = tenantIn(bytes);
  await intake.largeStep(tenant);
  const max = intake.limits.values;
  if (countValues(schema, bytes, { max, depth: recursionLimit }) > max) throw tooManyValues(max);
  const message = decodeMessage(schema, bytes, "request");
  await intake.largeStep(tenant);
  return message;
}
