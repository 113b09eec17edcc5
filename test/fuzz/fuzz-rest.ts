import { Agent } from "node:http";

import fc from "fast-check";

import { ask, faultIn } from "../reference/answer-fault.ts";
import type { FuzzRequest } from "../reference/arbitrary-request.ts";
import type { Description } from "../reference/description.ts";
import type { Findings } from "./findings.ts";

/** Sends so many requests of a description, and says how many were answered 200. */
export async function fuzzRest(
  { port, description }: { readonly port: number; readonly description: Description },
  arbitrary: fc.Arbitrary<FuzzRequest>,
  cases: { readonly seed: number; readonly count: number },
  findings: Findings,
): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  let accepted = 0;
  for (const request of fc.sample(arbitrary, { seed: cases.seed, numRuns: cases.count })) {
    const { method, path, body, operation } = request;
    const shown = `${method} ${path.slice(0, 300)} ${body.toString().slice(0, 1_000)}`;
    try {
      const came = await ask(request, { port, agent });
      if (came.status === 200) accepted++;
      const fault = faultIn(description, request, came);
      if (fault === "") continue;
      findings.add(
        `${operation.id}: ${came.status} ${fault}`,
        `${shown}: ${came.text.slice(0, 500)}`,
      );
    } catch (error) {
      findings.add(`${operation.id}: ${String(error)}`, shown);
    }
  }
  agent.destroy();
  return accepted;
}
