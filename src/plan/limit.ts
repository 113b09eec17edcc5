/**
 * The most entities that are looked at for an answer that one search can't give, on both engines:
 * past it the question fails with a clear error instead of reading a tenant as a whole.
 */
export const gatheredEntitiesMax = 10_000;
