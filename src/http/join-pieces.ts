import { Readable } from "node:stream";

import { errorOf } from "../base/error.ts";

/** A piece of so many bytes is passed on as it is. */
const wholeBytes = 4_096;

/** Smaller ones are put together into blocks of so many bytes. */
const blockBytes = 16_384;

/**
 * A body with its small pieces put together. Node makes an object of each piece, and what reads the body keeps all of
 * them until it is whole: 4 MB that come byte by byte would take 0.8 GB. A stream for each direction would take longer
 * for such a piece than Node does.
 *
 * `take` is told of each piece when it comes. A piece waits until the promise of `take` has resolved, and what is
 * returned fails as `take` does, and as the body.
 */
export function joinPieces(
  body: Readable,
  take: (bytes: number) => undefined | Promise<void> = () => undefined,
): Readable {
  let block = Buffer.alloc(0);
  let filled = 0;
  let isTaking = false;
  let hasEnded = false;
  const joined = new Readable({
    read() {
      if (!isTaking) body.resume();
    },
  });
  const pass = (bytes: Buffer): void => {
    if (!joined.push(bytes)) body.pause();
  };
  const passBlock = (): void => {
    if (filled > 0) pass(block.subarray(0, filled));
    block = Buffer.alloc(0);
    filled = 0;
  };
  const add = (piece: Buffer): void => {
    const isWhole = piece.length >= wholeBytes;
    if (isWhole || filled + piece.length > block.length) passBlock();
    if (isWhole) {
      pass(piece);
      return;
    }
    if (filled === 0) block = Buffer.allocUnsafe(blockBytes);
    filled += piece.copy(block, filled);
  };
  const end = (): void => {
    passBlock();
    joined.push(null);
  };
  const fail = (error: unknown): void => {
    body.off("data", look);
    body.pause();
    joined.destroy(errorOf(error));
  };
  const look = (piece: Buffer): void => {
    try {
      const taken = take(piece.length);
      if (taken === undefined) {
        add(piece);
        return;
      }
      isTaking = true;
      body.pause();
      taken.then(() => {
        isTaking = false;
        if (joined.destroyed) return;
        add(piece);
        if (hasEnded) end();
        else body.resume();
      }, fail);
    } catch (error) {
      fail(error);
    }
  };
  body.on("data", look);
  // It ends also while the last piece waits.
  body.on("end", () => {
    hasEnded = true;
    if (!isTaking) end();
  });
  body.on("error", (error) => joined.destroy(error));
  // A body that was refused has no reader, and its client may still leave.
  joined.on("error", () => undefined);
  return joined;
}
