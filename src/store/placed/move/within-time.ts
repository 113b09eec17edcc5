import { Caller, forCaller } from "../../../base/caller.ts";

/**
 * Does work whose statements are given up when its time is over, since a server that says nothing would hold it for
 * ever. They fail with CANCELLED then, and what they have done is not known.
 */
export async function withinTime<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), limitMs);
  try {
    return await forCaller(new Caller(ending), work);
  } finally {
    clearTimeout(timer);
  }
}
