import { setFlagsFromString } from "node:v8";

/**
 * Has V8 make all objects where quick collections of memory find them. By itself it learns which code makes objects
 * that live long, and makes those of this code where only a search of the whole memory frees them. In a server these
 * are objects of requests, and each keeps all that it leads to until then, such as the stream of a call
 * (docs/decisions/0025).
 */
export function makeObjectsYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}
