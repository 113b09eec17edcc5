import { Problem } from "../problem.ts";

/** A tuple, as Pemba's REST interface takes it. */
export interface Tuple {
  readonly entity: { readonly type: string; readonly id: string };
  readonly relation: string;
  readonly subject: { readonly type: string; readonly id: string; readonly relation?: string };
}

/** An attribute with a boolean value. */
export interface Flag {
  readonly entity: { readonly type: string; readonly id: string };
  readonly attribute: string;
  readonly value: boolean;
}

/** What the application changes at Pemba. Questions go to the database, as SQL. */
export interface Pemba {
  readonly writeSchema: (schema: string) => Promise<void>;
  /** Writes at most 1,000 tuples and flags together. Those that exist stay as they are. */
  readonly write: (data: {
    readonly tuples?: readonly Tuple[];
    readonly flags?: readonly Flag[];
  }) => Promise<void>;
  readonly deleteTuple: (tuple: Tuple) => Promise<void>;
  /** Deletes all tuples and attributes of the entities of a type. */
  readonly deleteEntities: (type: string) => Promise<void>;
}

/** How long a request may take. */
const timeoutMs = 10_000;

/** Pemba at an address, for one tenant. Its functions fail with a `Problem` when Pemba refuses. */
export function connectPemba({
  url,
  token,
  tenant,
}: {
  readonly url: string;
  readonly token: string;
  readonly tenant: string;
}): Pemba {
  const call = async (operation: string, body: object): Promise<void> => {
    const response = await fetch(new URL(`/v1/tenants/${tenant}/${operation}`, url), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token !== "" && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((cause: unknown) => {
      throw new Problem(502, "Permissions cannot be changed at the moment.", { cause });
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Problem(502, "The change of permissions was refused.", {
        cause: new Error(`${operation} was answered with ${response.status}: ${text}`),
      });
    }
  };
  return {
    writeSchema: (schema) => call("schemas/write", { schema }),
    write: ({ tuples = [], flags = [] }) =>
      call("data/write", { metadata: {}, tuples, attributes: flags.map(attributeOf) }),
    deleteTuple: ({ entity, relation, subject }) =>
      call("data/delete", {
        tuple_filter: {
          entity: { type: entity.type, ids: [entity.id] },
          relation,
          subject: { type: subject.type, ids: [subject.id], relation: subject.relation ?? "" },
        },
        attribute_filter: {},
      }),
    deleteEntities: (type) =>
      call("data/delete", {
        tuple_filter: { entity: { type, ids: [] }, relation: "" },
        attribute_filter: { entity: { type, ids: [] }, attributes: [] },
      }),
  };
}

function attributeOf({ entity, attribute, value }: Flag): object {
  const data = { "@type": "type.googleapis.com/base.v1.BooleanValue", data: value };
  return { entity, attribute, value: data };
}
