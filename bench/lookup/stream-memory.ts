import { firstTenant } from "../../test/data/ask-store.ts";
import { figure, formatTable } from "../report.ts";
import type { LoadedDatabase } from "../server.ts";
import { megabytesOf, serveDatabase } from "../serving.ts";

/** The memory of the service, in MB, after so many ids of a stream. */
export interface StreamSample {
  readonly ids: number;
  readonly megabytes: number;
}

export interface StreamResult {
  readonly ids: number;
  readonly seconds: number;
  readonly samples: readonly StreamSample[];
}

/** Streams all documents that a user may view through a service of its own, over REST. */
export async function benchStream(
  database: LoadedDatabase,
  user: string,
  print: (line: string) => void,
): Promise<StreamResult> {
  const serving = await serveDatabase(database.url);
  try {
    const { url, pid } = serving;
    // What the first requests load and compile is not what a stream holds.
    await stream(url, "nobody", pid);
    const result = await stream(url, user, pid);
    print(`\n${table(result)}`);
    return result;
  } finally {
    await serving.stop();
  }
}

const samplesWanted = 20;

async function stream(url: string, user: string, pid: number): Promise<StreamResult> {
  const started = performance.now();
  const path = `/v1/tenants/${firstTenant}/permissions/lookup-entity-stream`;
  const response = await fetch(url + path, {
    method: "POST",
    body: JSON.stringify({
      metadata: {},
      entity_type: "document",
      permission: "view",
      subject: { type: "user", id: user },
    }),
  });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  const every = 1_000_000 / samplesWanted;
  const samples: StreamSample[] = [{ ids: 0, megabytes: await megabytesOf(pid) }];
  let ids = 0;
  for await (const chunk of response.body) {
    for (const byte of chunk) if (byte === newline) ids += 1;
    if (ids < samples.length * every) continue;
    samples.push({ ids, megabytes: await megabytesOf(pid) });
  }
  samples.push({ ids, megabytes: await megabytesOf(pid) });
  return { ids, seconds: (performance.now() - started) / 1000, samples };
}

const newline = 10;

function table({ ids, seconds, samples }: StreamResult): string {
  const rows = samples.map((sample) => [
    sample.ids.toLocaleString("en"),
    String(Math.round(sample.megabytes)),
  ]);
  const total = `${ids.toLocaleString("en")} ids in ${figure(seconds)} s`;
  return `${formatTable(["ids streamed", "rss MB"], rows)}\n${total}, ${figure(ids / seconds)}/s`;
}
