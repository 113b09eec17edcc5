import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { until } from "../store/open-write.ts";
import { hasTwoProcessors, startByTwo, type WorkingInstance } from "./instance.ts";

const skip = hasTwoProcessors ? false : "there is one processor";

/** The values of a metric, by its labels. */
type Samples = ReadonlyMap<string, number>;

async function measuresOf(instance: WorkingInstance): Promise<(name: string) => Samples> {
  const address = /metrics are read from ([^\s"]+)/.exec(instance.log())?.[1];
  const text = await (await fetch(`http://${address}/metrics`)).text();
  return (name) =>
    new Map(
      [...text.matchAll(new RegExp(`^${name}(\\{[^}]*\\})? (\\S+)`, "gm"))].map(
        ([, labels = "", value]) => [labels, Number(value)],
      ),
    );
}

function total(samples: Samples): number {
  return [...samples.values()].reduce((sum, value) => sum + value, 0);
}

/** The measures once so many requests are counted: a worker that is late is counted by the next reading. */
async function measuresAfter(
  instance: WorkingInstance,
  requests: number,
): Promise<(name: string) => Samples> {
  return await until(async () => {
    const read = await measuresOf(instance);
    return total(read("pemba_request_duration_seconds_count")) === requests ? read : undefined;
  });
}

async function ask({ url }: WorkingInstance, times: number): Promise<void> {
  for (let nth = 0; nth < times; nth++) {
    const answer = await fetch(`${url}/v1/tenants/list`, {
      method: "POST",
      headers: { connection: "close" },
      body: "{}",
    });
    assert.equal(answer.status, 200, await answer.text());
  }
}

describe("the measures of an instance with two workers", { skip }, () => {
  let instance: WorkingInstance;
  before(async () => {
    instance = await startByTwo(["--meter-prometheus-enabled", "--meter-prometheus-port=0"]);
  });
  after(async () => await instance.end());

  test("one port has the sums over both workers, and each metric once", async () => {
    await ask(instance, 10);
    const read = await measuresAfter(instance, 10);
    assert.equal(read("pemba_request_duration_seconds_count").size, 1);
    // Histograms have their buckets added up, too.
    assert.equal(Math.max(...read("pemba_request_duration_seconds_bucket").values()), 10);
    // Numbers of things add up, and what is no number of things does not.
    assert.equal(total(read("db_client_connection_max")), 20);
    assert.equal(read("process_memory_usage_bytes").size, 1);
    const utilization = total(read("nodejs_eventloop_utilization_ratio"));
    assert.ok(utilization >= 0 && utilization <= 1, `${utilization}`);
    assert.equal(instance.log().match(/metrics are read from/g)?.length, 1);
  });

  test("counts of a worker that has ended stay in the sums", async () => {
    const [first] = await instance.workers();
    assert.ok(first !== undefined);
    process.kill(first, "SIGKILL");
    await instance.logs(/a worker has ended/);
    await ask(instance, 4);
    await measuresAfter(instance, 14);
  });

  test("when the supervisor is killed, its workers end", async () => {
    instance.process.kill("SIGKILL");
    // Its output is closed by the last process that writes to it.
    await instance.finished;
    await assert.rejects(fetch(`${instance.url}/healthz`));
  });
});
