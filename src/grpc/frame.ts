/** In front of each message of a call: whether it is compressed, and its length. */
export const prefixBytes = 5;

/** Messages that are not compressed, each behind its prefix. */
export function framed(messages: readonly Buffer[]): Buffer {
  let size = 0;
  for (const { length } of messages) size += prefixBytes + length;
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const message of messages) {
    bytes.writeUInt8(0, at);
    bytes.writeUInt32BE(message.length, at + 1);
    message.copy(bytes, at + prefixBytes);
    at += prefixBytes + message.length;
  }
  return bytes;
}
