import { fileBytesMax } from "../base/read-file.ts";
import { messageOf } from "./output.ts";

const reasons: ReadonlyMap<unknown, string> = new Map([
  ["ENOENT", "is not there"],
  ["ENOTDIR", "is not there"],
  ["EISDIR", "is a folder, expected a file"],
  ["NOT_A_FILE", "is a device, expected a file"],
  ["FILE_TOO_LARGE", `is larger than ${fileBytesMax} bytes`],
  ["EACCES", "cannot be read: permission denied"],
  ["ERR_ENCODING_INVALID_ENCODED_DATA", "is not UTF-8"],
]);

/** Why a file could not be read, from the error of reading or decoding it. It follows the name of the file. */
export function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return reasons.get(code) ?? `cannot be read: ${messageOf(error)}`;
}
