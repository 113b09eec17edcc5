import { ApiError } from "../../api/api-error.ts";
import { changeSchema } from "../../api/schemas.ts";
import { send } from "../../api/send.ts";
import { createTenant } from "../../api/tenants.ts";
import { draftOf } from "../../app/draft.ts";
import { knownTenants } from "../../app/known-tenants.ts";
import { schemaWorker } from "../../worker/client.ts";
import { writeFacts } from "../data/write-facts.ts";

/** A model with its test, as the build took it from examples/models. */
export interface ExampleModel {
  readonly name: string;
  readonly about: string;
  readonly schema: string;
  readonly test: string;
}

const attemptsMax = 20;

export async function readExamples(signal: AbortSignal): Promise<readonly ExampleModel[]> {
  return await send({ method: "GET", path: document.body.dataset["examples"] ?? "", signal });
}

/** Makes a tenant with the schema and the data of an example. Returns its id. */
export async function loadExample(example: ExampleModel): Promise<string> {
  const facts = await schemaWorker.ask("readTestData", { text: example.test });
  const tenant = await createFreeTenant(example.name);
  await changeSchema(tenant, { expectedHead: "", schema: example.schema });
  const [refused] = await writeFacts(tenant, facts);
  if (refused !== undefined) throw new Error(`line ${refused.line}: ${refused.message}`);
  draftOf(tenant, "test").set(example.test);
  return tenant;
}

/** The name of the example, with a number if there is such a tenant already. */
async function createFreeTenant(name: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const id = attempt === 1 ? name : `${name}-${attempt}`;
    // The list has only the tenants of the token, and the first of them.
    if (knownTenants.value.includes(id)) continue;
    try {
      return (await createTenant(id, name.replaceAll("-", " "))).id;
    } catch (error) {
      const isTaken = error instanceof ApiError && error.status === 409;
      if (!isTaken || attempt >= attemptsMax) throw error;
    }
  }
}
