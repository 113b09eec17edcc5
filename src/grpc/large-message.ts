import type { DescMessage, MessageShape } from "@bufbuild/protobuf";

import type { Intake } from "../intake/intake.ts";
import { tooManyValues } from "../intake/values.ts";
import { decodeMessage, recursionLimit } from "../messages/binary.ts";
import { countValues } from "./count-values.ts";
import { tenantIn } from "./tenant-in.ts";

/**
 * Waits in the queue of large bodies, reads the request, and waits again before the request goes on. Fails
 * with VALIDATION, with PAYLOAD_TOO_LARGE when it holds too many values, and with CANCELLED when the
 * signal aborts.
 */
export async function decodeLarge<D extends DescMessage>(
  schema: D,
  bytes: Buffer,
  { intake, signal }: { readonly intake: Intake; readonly signal: AbortSignal },
): Promise<MessageShape<D>> {
  const tenant = tenantIn(bytes);
  await intake.largeStep(tenant, signal);
  const max = intake.limits.values;
  if (countValues(schema, bytes, { max, depth: recursionLimit }) > max) throw tooManyValues(max);
  const message = decodeMessage(schema, bytes, "request");
  await intake.largeStep(tenant, signal);
  return message;
}
