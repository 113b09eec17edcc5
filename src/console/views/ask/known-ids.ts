import { readTuples } from "../../api/data.ts";
import { entityText } from "../../api/reference.ts";
import { useLoad } from "../../app/use-load.ts";

/**
 * Ids of the type that a reference begins with, as `type:id`: those of the first tuples. None before the `:`, and
 * none for a token that may not read data.
 */
export function useKnownIds(tenant: string, reference: string): readonly string[] {
  const type = /^\s*([A-Za-z_]+):/.exec(reference)?.[1];
  const { loaded } = useLoad(
    async (signal) => (type === undefined ? [] : await readIds(tenant, type, signal)),
    [tenant, type],
  );
  return loaded.kind === "ready" ? loaded.value : [];
}

async function readIds(
  tenant: string,
  type: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const [asEntity, asSubject] = await Promise.all([
    readTuples(tenant, { filter: { entity: { type } }, after: "", signal }),
    readTuples(tenant, { filter: { subject: { type } }, after: "", signal }),
  ]);
  const found = [
    ...asEntity.tuples.map(({ entity }) => entityText(entity)),
    ...asSubject.tuples.map(({ subject }) => entityText(subject)),
  ];
  return [...new Set(found)].toSorted();
}
