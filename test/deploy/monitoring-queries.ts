import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";

const folder = join(import.meta.dirname, "../../deploy");

/** The files of monitoring. */
export const dashboardFile = join(folder, "grafana/pemba.json");
export const alertsFile = join(folder, "prometheus/alerts.yaml");

/** A query of Prometheus, and where it stands. */
export interface MonitoringQuery {
  readonly place: string;
  readonly text: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

/** The queries of the dashboard, with these texts in place of Grafana's variables. */
export function dashboardQueries(
  variables: Readonly<Record<string, string>>,
): readonly MonitoringQuery[] {
  const { panels } = JSON.parse(readFileSync(dashboardFile, "utf8")) as {
    readonly panels: readonly Panel[];
  };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      place: `panel "${title}"`,
      text: expr.replaceAll(/\$(\w+)/g, (whole, name: string) => variables[name] ?? whole),
    })),
  );
}

/** The queries of the alerts, without the comparison that decides whether one fires. */
export function alertQueries(): readonly MonitoringQuery[] {
  return alertRules().map(({ alert, expr }) => {
    const found = /^(?<query>[\s\S]+) (?:>|==) [\d.* ]+$/.exec(expr.trim())?.groups?.["query"];
    if (found === undefined) throw new Error(`${alert}: no comparison with a number`);
    return { place: `alert ${alert}`, text: found };
  });
}

export function alertRules(): readonly Rule[] {
  const { groups } = parse(readFileSync(alertsFile, "utf8")) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}
