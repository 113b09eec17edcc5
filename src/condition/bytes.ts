/** Below zero, zero or above zero, as the first bytes stand before, at or behind the second. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Both, one behind the other. */
export function joinBytes(left: Uint8Array, right: Uint8Array): Uint8Array {
  const joined = new Uint8Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}

const encoder = new TextEncoder();

/** The UTF-8 of a text. */
export function bytesOfText(text: string): Uint8Array {
  return encoder.encode(text);
}
