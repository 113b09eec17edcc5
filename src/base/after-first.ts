/**
 * Waits for the first item and returns all items: for a stream that is refused if its first item
 * fails. Fails as the first item does.
 */
export async function afterFirst<T>(items: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const source = items[Symbol.asyncIterator]();
  const first = await source.next();
  return (async function* () {
    if (first.done === true) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => source };
  })();
}
