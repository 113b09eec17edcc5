import { PembaError } from "../../base/error.ts";
import { quote } from "../../base/quote.ts";

/** Does work on the database of a cluster. Its error names the cluster: there are several. */
export async function namingCluster<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    const { code, plainMessage, details, cause } = error;
    throw new PembaError(code, `cluster ${quote(name)}: ${plainMessage}`, { details, cause });
  }
}
