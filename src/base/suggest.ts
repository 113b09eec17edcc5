/** The most edits between a misspelled name and the one that was probably meant. */
const editsMax = 2;

/** To compare more names than this costs more than the hint is worth. */
const candidatesMax = 1_000;

/** ` (did you mean ...?)` with the candidate nearest to `name`, or "" when none is near. */
export function suggest(name: string, candidates: Iterable<string>): string {
  let nearest: string | undefined;
  // A name of three letters with two of them changed is another name.
  let limit = Math.min(editsMax, Math.floor(name.length / 2));
  let seen = 0;
  for (const candidate of candidates) {
    seen += 1;
    if (seen > candidatesMax) break;
    const edits = editDistance(name, candidate, limit);
    if (edits === undefined || edits === 0) continue;
    nearest = candidate;
    limit = edits - 1;
  }
  return nearest === undefined ? "" : ` (did you mean \`${nearest}\`?)`;
}

/** The candidate that `suggest` put at the end of a message, if it did. */
export function suggestedIn(message: string): string | undefined {
  return /\(did you mean `([^`]+)`\?\)$/.exec(message)?.[1];
}

/**
 * Insertions, deletions and replacements that turn `source` into `target`; undefined when there
 * are more than `limit`. Only the diagonal band that can stay within the limit is computed.
 */
function editDistance(source: string, target: string, limit: number): number | undefined {
  if (Math.abs(source.length - target.length) > limit) return undefined;
  const beyond = limit + 1;
  let above = new Uint8Array(target.length + 2).fill(beyond);
  let current = new Uint8Array(target.length + 2).fill(beyond);
  for (let column = 0; column <= limit; column++) above[column] = column;
  for (let row = 1; row <= source.length; row++) {
    const first = Math.max(1, row - limit);
    const last = Math.min(target.length, row + limit);
    let least = (current[first - 1] = row <= limit ? row : beyond);
    for (let column = first; column <= last; column++) {
      const same = source.charCodeAt(row - 1) === target.charCodeAt(column - 1);
      const replaced = (above[column - 1] ?? beyond) + (same ? 0 : 1);
      const removed = (above[column] ?? beyond) + 1;
      const added = (current[column - 1] ?? beyond) + 1;
      const edits = Math.min(replaced, removed, added, beyond);
      current[column] = edits;
      least = Math.min(least, edits);
    }
    if (least === beyond) return undefined;
    current[last + 1] = beyond;
    [above, current] = [current, above];
  }
  const edits = above[target.length] ?? beyond;
  return edits === beyond ? undefined : edits;
}
