import { readdir, readFile } from "node:fs/promises";

/** What an instance holds at a time, in MiB; `seconds` since it was first looked at. */
export interface MemorySample {
  readonly seconds: number;
  readonly mebibytes: number;
}

const everyMs = 500;

/** Looks at the memory of a process and those that it has started, again and again. */
export function sampleMemory(pid: number): { stop(): readonly MemorySample[] } {
  const start = performance.now();
  const samples: MemorySample[] = [];
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    const seconds = (performance.now() - start) / 1_000;
    void mebibytesOf(pid).then(
      (mebibytes) => {
        samples.push({ seconds, mebibytes });
        isBusy = false;
      },
      // A process that has ended holds nothing, and is looked at no more.
      () => clearInterval(timer),
    );
  }, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      return samples;
    },
  };
}

/** What a process and those that it has started hold of the memory, shared pages in parts (PSS). */
async function mebibytesOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  const own = Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / 1_024;
  const children = await childrenOf(pid);
  const others = await Promise.all(children.map(mebibytesOf));
  return others.reduce((sum, one) => sum + one, own);
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    tasks.map(
      async (task) =>
        // A thread may have ended meanwhile.
        await readFile(`/proc/${pid}/task/${task}/children`, "utf8").catch(() => ""),
    ),
  );
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}
