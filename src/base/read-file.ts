import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** No file that is read as a whole needs more. */
export const fileBytesMax = 8 * 1024 * 1024;

const chunkBytes = 64 * 1024;

/** A file that is not read to its end. Its code is beside those of the file system. */
class FileRefusal extends Error {
  override readonly name = "FileRefusal";
  readonly code: "NOT_A_FILE" | "FILE_TOO_LARGE";

  constructor(code: FileRefusal["code"]) {
    super(code);
    this.code = code;
  }
}

/**
 * Reads a file, a pipe or, for 0, standard input. Fails as the file system does, with FILE_TOO_LARGE beyond
 * `fileBytesMax`, and with NOT_A_FILE for a device, which may have no end.
 */
export function readWholeFile(file: string | 0): Buffer {
  const descriptor = file === 0 ? 0 : openSync(file, "r");
  try {
    const status = fstatSync(descriptor);
    // The system has a message of its own for a folder.
    const isExpected = status.isFile() || status.isFIFO() || status.isDirectory();
    if (file !== 0 && !isExpected) throw new FileRefusal("NOT_A_FILE");
    return readToEnd(descriptor);
  } finally {
    if (file !== 0) closeSync(descriptor);
  }
}

function readToEnd(descriptor: number): Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const length = readSync(descriptor, chunk, 0, chunkBytes, null);
    if (length === 0) return Buffer.concat(chunks, bytes);
    bytes += length;
    if (bytes > fileBytesMax) throw new FileRefusal("FILE_TOO_LARGE");
    chunks.push(chunk.subarray(0, length));
  }
}
