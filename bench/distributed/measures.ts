/** What a process has measured, as it stood in the text of Prometheus. */
export interface Measures {
  /** The sum of all series with the name, of those with the label when one is given (`name="value"`). */
  readonly sumOf: (name: string, label?: string) => number;
}

export async function readMeasures(url: string): Promise<Measures> {
  const answer = await fetch(url);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} of ${url}: ${text}`);
  const series = text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = /^(\w+)(\{.*\})? (\S+)/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels, value: Number(value) }];
  });
  return {
    sumOf: (name, label = "") =>
      series
        .filter((one) => one.name === name && one.labels.includes(label))
        .reduce((sum, { value }) => sum + value, 0),
  };
}
