import { PembaError } from "../base/error.ts";

/** So many may be of any length. */
const freePieces = 100;

/** The others have so many bytes on the average. */
const pieceBytes = 256;

/**
 * Counts the pieces in which a message comes. Until it is whole, each of them is an object that takes more than a hundred
 * bytes and some microseconds, even if it holds one byte. Clients send frames of many bytes.
 */
export class Pieces {
  #pieces = 0;
  #bytes = 0;

  /** Counts a piece of that length. Fails with PAYLOAD_TOO_LARGE when they are too many for what has come. */
  add(bytes: number): void {
    this.#pieces += 1;
    this.#bytes += bytes;
    if (this.#pieces <= freePieces + this.#bytes / pieceBytes) return;
    throw new PembaError(
      "PAYLOAD_TOO_LARGE",
      `request: comes in too many pieces, expected ${pieceBytes} bytes in each`,
    );
  }

  /** Begins anew. */
  reset(): void {
    this.#pieces = 0;
    this.#bytes = 0;
  }
}
