import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";

import { Ajv } from "ajv";
import { parse } from "yaml";

import { packageVersion } from "../../src/base/package-version.ts";
import { loadConfig } from "../../src/config/load.ts";
import { options } from "../../src/config/options.ts";
import { decodeStrictly, findTool, whyNoTools } from "../support/tools.ts";
import { chartSchema } from "./chart-schema.ts";
import { at, kustomized, manifestsOf, ofKind, secret, whyNoKubectl } from "./manifests.ts";
import { alertsFile, dashboardFile } from "./monitoring-queries.ts";

const run = promisify(execFile);
const chart = join(import.meta.dirname, "../../deploy/helm/pemba");
const folder = mkdtempSync(join(tmpdir(), "pemba-helm-"));
after(() => rmSync(folder, { recursive: true }));

const noKubectl = await whyNoKubectl();

/** Values of the kinds of installations that there are. */
const installations: Readonly<Record<string, object>> = {
  "several pods over Postgres": {},
  "one pod in memory": readYaml(join(chart, "../memory.yaml")),
  everything: {
    image: {
      repository: "images.example/pemba",
      digest: `sha256:${"0".repeat(64)}`,
      pullSecrets: ["a"],
    },
    config: {
      server: { rate_limit: 1_000_000_000 },
      distributed: { enabled: true, address: "dns:///other-pemba-pods:5000" },
    },
    tlsSecret: "tls",
    metrics: {
      enabled: true,
      from: [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }],
      serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
      alerts: { enabled: true, labels: { release: "prometheus" } },
      dashboard: { enabled: true },
    },
    service: { type: "LoadBalancer", annotations: { a: "b" } },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" },
    ],
    podAnnotations: { a: "b" },
    podLabels: { a: "b" },
    nodeSelector: { a: "b" },
    tolerations: [{ key: "a", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    priorityClassName: "high",
  },
};

/** Files of the chart that are made from others. UPDATE_PAGES=1 writes them anew. */
const made: Readonly<Record<string, () => string>> = {
  "values.schema.json": () => `${JSON.stringify(chartSchema(), null, 2)}\n`,
  "files/alerts.yaml": () => readFileSync(alertsFile, "utf8"),
  "files/dashboard.json": () => readFileSync(dashboardFile, "utf8"),
};

for (const [path, content] of Object.entries(made)) {
  test(`${path} of the chart is what it is made from`, () => {
    const file = join(chart, path);
    if (process.env["UPDATE_PAGES"] === "1") writeFileSync(file, content());
    assert.equal(readFileSync(file, "utf8"), content());
  });
}

test("the chart has the version of the package", () => {
  const { version, appVersion } = readYaml(join(chart, "Chart.yaml")) as Record<string, string>;
  assert.deepEqual([version, appVersion], [packageVersion(), packageVersion()]);
});

test("the schema describes every value, and takes those that the chart has", () => {
  const values = readYaml(join(chart, "values.yaml"));
  const validate = new Ajv({ strict: false, allErrors: true }).compile(chartSchema());
  validate(values);
  assert.deepEqual(validate.errors, null);
  const described = Object.keys(at(chartSchema(), "properties") ?? {});
  assert.deepEqual(
    described.filter((name) => !(name in values)),
    ["global"],
  );
});

describe("rendered by helm", { skip: whyNoTools("helm") }, () => {
  test("the chart has nothing that helm warns of", async () => {
    await run(findTool("helm") ?? "", ["lint", "--strict", "--quiet", chart]);
  });

  for (const [name, values] of Object.entries(installations)) {
    test(
      `${name}: no field is one that Kubernetes does not know`,
      { skip: whyNoTools("decode") },
      async () => {
        assert.equal(await decodeStrictly(await rendered(values)), "");
      },
    );

    test(`${name}: the configuration is one that the server takes`, async () => {
      const [map] = ofKind(manifestsOf(await rendered(values)), "ConfigMap");
      const file = join(folder, "config.yaml");
      writeFileSync(file, String(at(map, "data", "config.yaml")));
      const env = name.includes("memory") ? {} : secret;
      const loaded = loadConfig({ flags: new Map([["config", file]]), env });
      assert.deepEqual(loaded.kind === "problems" ? loaded.problems : loaded.warnings, []);
    });

    test(`${name}: what selects pods selects those of the release`, async () => {
      const all = manifestsOf(await rendered(values));
      const [deployment] = ofKind(all, "Deployment");
      const labels = { "app.kubernetes.io/name": "pemba", "app.kubernetes.io/instance": "other" };
      assert.deepEqual(at(deployment, "spec", "selector", "matchLabels"), labels);
      assert.partialDeepStrictEqual(
        at(deployment, "spec", "template", "metadata", "labels"),
        labels,
      );
      const selectors = [
        ...ofKind(all, "Service").map((one) => at(one, "spec", "selector")),
        ...ofKind(all, "NetworkPolicy").map((one) => at(one, "spec", "podSelector", "matchLabels")),
        ...ofKind(all, "PodDisruptionBudget").map((one) =>
          at(one, "spec", "selector", "matchLabels"),
        ),
      ];
      assert.ok(selectors.length >= 3);
      for (const selector of selectors) assert.deepEqual(selector, labels);
      for (const one of all) assert.match(String(at(one, "metadata", "name")), /^other-pemba\b/);
    });
  }

  test(
    "by default the chart makes what the kustomization for Postgres makes",
    { skip: noKubectl },
    async () => {
      const base = manifestsOf(await kustomized("postgres"));
      const all = manifestsOf(await rendered({}));
      assert.deepEqual(
        withoutNames(ofKind(all, "Deployment")),
        withoutNames(ofKind(base, "Deployment")),
      );
      for (const kind of ["NetworkPolicy", "PodDisruptionBudget"]) {
        assert.deepEqual(withoutNames(ofKind(all, kind)), withoutNames(ofKind(base, kind)), kind);
      }
      const ports = (manifests: readonly unknown[]): readonly unknown[] =>
        ofKind(manifests, "Service").map((one) => at(one, "spec", "ports"));
      assert.deepEqual(ports(all), ports(base));
      const configOf = (manifests: readonly unknown[]): unknown =>
        parse(String(at(ofKind(manifests, "ConfigMap")[0], "data", "config.yaml")));
      assert.deepEqual(configOf(all), configOf(base));
    },
  );

  test("one pod in memory is not replaced while it runs, and has no budget", async () => {
    const all = manifestsOf(await rendered(installations["one pod in memory"] ?? {}));
    const [deployment] = ofKind(all, "Deployment");
    assert.deepEqual(at(deployment, "spec", "strategy"), { type: "Recreate" });
    assert.equal(at(deployment, "spec", "replicas"), 1);
    assert.deepEqual(ofKind(all, "PodDisruptionBudget"), []);
  });

  test("with a certificate, listeners have TLS and probes use it", async () => {
    const all = manifestsOf(await rendered({ tlsSecret: "tls" }));
    const [deployment] = ofKind(all, "Deployment");
    const container = at(deployment, "spec", "template", "spec", "containers", 0);
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
      assert.equal(at(container, probe, "httpGet", "scheme"), "HTTPS");
    }
    const [map] = ofKind(all, "ConfigMap");
    const config: unknown = parse(String(at(map, "data", "config.yaml")));
    for (const listener of ["http", "grpc"]) {
      assert.deepEqual(at(config, "server", listener, "tls"), {
        enabled: true,
        cert: "/app/tls/tls.crt",
        key: "/app/tls/tls.key",
      });
    }
    const mounts = at(container, "volumeMounts") as readonly unknown[];
    assert.deepEqual(
      mounts.map((mount) => at(mount, "mountPath")),
      ["/app/config", "/app/tls"],
    );
  });

  test("Prometheus finds one port of each pod, and the alerts and the dashboard are the files", async () => {
    const all = manifestsOf(await rendered(installations["everything"] ?? {}));
    const [monitor] = ofKind(all, "ServiceMonitor");
    const wanted = Object.entries(at(monitor, "spec", "selector", "matchLabels") as object);
    const found = ofKind(all, "Service").filter((service) =>
      wanted.every(([label, value]) => at(service, "metadata", "labels", label) === value),
    );
    assert.equal(found.length, 1);
    const ports = at(found[0], "spec", "ports") as readonly unknown[];
    const port = at(monitor, "spec", "endpoints", 0, "port");
    assert.equal(ports.filter((one) => at(one, "name") === port).length, 1);
    const admitted = at(ofKind(all, "NetworkPolicy")[0], "spec", "ingress") as readonly unknown[];
    assert.ok(admitted.some((rule) => at(rule, "ports", 0, "port") === "metrics"));
    const [rules] = ofKind(all, "PrometheusRule");
    assert.deepEqual(at(rules, "spec"), readYaml(alertsFile));
    const boards = ofKind(all, "ConfigMap")
      .map((map) => at(map, "data", "pemba.json"))
      .filter((text) => typeof text === "string");
    assert.deepEqual(
      boards.map((text): unknown => JSON.parse(text)),
      [JSON.parse(readFileSync(dashboardFile, "utf8"))],
    );
  });

  test("a change of the configuration changes the pods", async () => {
    const annotation = async (values: object): Promise<unknown> => {
      const [deployment] = ofKind(manifestsOf(await rendered(values)), "Deployment");
      return at(deployment, "spec", "template", "metadata", "annotations", "pemba/config");
    };
    const changed = { config: { server: { rate_limit: 5 } } };
    assert.notEqual(await annotation({}), await annotation(changed));
    assert.equal(await annotation({}), await annotation({ replicas: 5 }));
  });

  test("a longer grace period is taken with the time that it needs", async () => {
    for (const [grace, seconds] of [
      ["1h2m31.5s", 3_761],
      [0, 10],
      [null, 35],
    ]) {
      const values = {
        config: { server: { grace_period: grace } },
        terminationGracePeriodSeconds: seconds,
      };
      const [deployment] = ofKind(manifestsOf(await rendered(values)), "Deployment");
      const end = at(deployment, "spec", "template", "spec", "terminationGracePeriodSeconds");
      assert.equal(end, seconds);
    }
  });

  const refused: Readonly<Record<string, { readonly values: object; readonly reason: RegExp }>> = {
    "a misspelt key of the configuration": {
      values: { config: { server: { rate_limt: 5 } } },
      reason: /\/config\/server'.*'rate_limt' not allowed/,
    },
    "a value that the server would refuse": {
      values: { config: { logger: { level: "loud" } } },
      reason: /\/config\/logger\/level/,
    },
    "a secret outside of a secret": {
      values: { config: { database: { uri: "postgres://user:password@host/pemba" } } },
      reason: /\/config\/database'.*'uri' not allowed/,
    },
    "a port of its own": {
      values: { config: { server: { http: { port: 80 } } } },
      reason: /'port' not allowed/,
    },
    "several pods in memory": {
      values: { config: { database: { engine: "memory" } } },
      reason: /\/replicas': maximum/,
    },
    "metrics that are not measured": {
      values: { metrics: { serviceMonitor: { enabled: true } } },
      reason: /metrics\.serviceMonitor needs metrics\.enabled/,
    },
    "metrics that nothing may read": {
      values: { metrics: { enabled: true, serviceMonitor: { enabled: true } } },
      reason: /metrics\.serviceMonitor needs metrics\.from/,
    },
    "less time to end than requests have": {
      values: {
        config: { server: { grace_period: "1h2m31.5s" } },
        terminationGracePeriodSeconds: 3760,
      },
      reason:
        /terminationGracePeriodSeconds needs at least 3761: .*config\.server\.grace_period \(1h2m31\.5s\)/,
    },
    "less time to end than requests have by default": {
      values: { terminationGracePeriodSeconds: 34 },
      reason: new RegExp(`needs at least 35: .*\\(${options["server.grace_period"].default}\\)`),
    },
  };
  for (const [name, { values, reason }] of Object.entries(refused)) {
    test(`${name} is refused with its name`, async () => {
      await assert.rejects(rendered(values), reason);
    });
  }
});

/** What helm makes of the values, for a release with another name than the chart. */
async function rendered(values: object): Promise<string> {
  const file = join(folder, "values.yaml");
  writeFileSync(file, JSON.stringify(values));
  const words = ["template", "other", chart, "--values", file];
  const { stdout } = await run(findTool("helm") ?? "", words);
  return stdout;
}

/** Manifests without what names a release or its objects. */
function withoutNames(manifests: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(manifests), (key, value: unknown) => {
    if (["metadata", "labels", "matchLabels", "image", "imagePullPolicy"].includes(key)) {
      return undefined;
    }
    return key === "configMap" ? {} : value;
  });
}

function readYaml(file: string): object {
  return parse(readFileSync(file, "utf8")) as object;
}
