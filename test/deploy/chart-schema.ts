import { configurationSchema } from "../../src/config/json-schema.ts";
import { keyNames } from "../../src/config/key-name.ts";
import { options, type OptionKey } from "../../src/config/options.ts";

/** A JSON Schema, or a part of one. */
type Schema = Readonly<Record<string, unknown>>;

/** The chart sets these keys itself, or cannot do without their defaults. */
const keysOfChart: ReadonlySet<OptionKey> = new Set([
  "server.host",
  "server.http.enabled",
  "server.http.port",
  "server.http.tls.enabled",
  "server.http.tls.cert",
  "server.http.tls.key",
  "server.grpc.port",
  "server.grpc.tls.enabled",
  "server.grpc.tls.cert",
  "server.grpc.tls.key",
  "meter.prometheus.enabled",
  "meter.prometheus.host",
  "meter.prometheus.port",
  // The file system of the pod is read-only.
  "logger.file",
  "distributed.port",
]);

const text = { type: "string" };
const flag = { type: "boolean" };
const texts = { type: "object", additionalProperties: text };
const anything = { type: "object" };
const quantities = { type: "object", additionalProperties: { type: ["string", "number"] } };

/** What `values.yaml` of the chart may say. An unknown value is refused. */
export function chartSchema(): Schema {
  return {
    // An older draft, because older versions of Helm know no newer one.
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the chart of Pemba",
    ...closed({
      image: closed({
        repository: { type: "string", minLength: 1 },
        tag: text,
        digest: { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
        pullPolicy: { enum: ["Always", "IfNotPresent", "Never"] },
        pullSecrets: { type: "array", items: text },
      }),
      replicas: { type: "integer", minimum: 0 },
      config: { ...configSchema(), required: ["database"] },
      secret: text,
      tlsSecret: text,
      metrics: metricsSchema(),
      networkPolicy: closed({ enabled: flag }),
      podDisruptionBudget: closed({
        enabled: flag,
        maxUnavailable: { type: ["integer", "string"], pattern: "^\\d+%$", minimum: 1 },
      }),
      service: closed({
        type: { enum: ["ClusterIP", "NodePort", "LoadBalancer"] },
        annotations: texts,
      }),
      resources: closed({ requests: quantities, limits: quantities }),
      terminationGracePeriodSeconds: { type: "integer", minimum: 10 },
      topologySpreadConstraints: { type: "array", items: anything },
      podAnnotations: texts,
      podLabels: texts,
      nodeSelector: texts,
      tolerations: { type: "array", items: anything },
      affinity: anything,
      priorityClassName: text,
      // What Helm itself passes to a chart that others include.
      global: anything,
    }),
    ...oneForMemory,
  };
}

/** Two pods in memory would be two stores that know nothing of each other. */
const oneForMemory = {
  if: {
    properties: {
      config: {
        properties: { database: { properties: { engine: { const: "memory" } } } },
      },
    },
  },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { properties: { replicas: { maximum: 1 } } },
};

function metricsSchema(): Schema {
  return closed({
    enabled: flag,
    from: { type: "array", items: anything },
    serviceMonitor: closed({
      enabled: flag,
      interval: { type: "string", pattern: "^\\d+(ms|s|m|h)$" },
      labels: texts,
    }),
    alerts: closed({ enabled: flag, labels: texts }),
    dashboard: closed({ enabled: flag, labels: texts }),
  });
}

/** The keys of the configuration, without those of the chart, secrets and deprecated names. */
function configSchema(): Schema {
  const left = keyNames.filter(
    ({ name, key }) => name !== key || options[key].secret || keysOfChart.has(key),
  );
  const schema: Schema = structuredClone(configurationSchema());
  for (const { name } of left) removeKey(schema, name.split("."));
  const { $schema: _draft, title: _title, ...rest } = schema;
  return withoutLookahead(rest);
}

function removeKey(section: Schema, [step = "", ...rest]: readonly string[]): void {
  const properties = section["properties"] as Record<string, Schema>;
  const inner = properties[step];
  if (rest.length > 0 && inner !== undefined) {
    removeKey(inner, rest);
    // A section without a key is none.
    if (Object.keys(inner["properties"] as object).length > 0) return;
  }
  delete properties[step];
}

/** Helm cannot read patterns that look ahead. The server checks these values at its start. */
function withoutLookahead(schema: Schema): Schema {
  const entries = Object.entries(schema).filter(
    ([keyword, value]) => keyword !== "pattern" || !/\(\?[=!]/.test(String(value)),
  );
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, inside(value)]));
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside);
  return typeof value === "object" && value !== null ? withoutLookahead({ ...value }) : value;
}

function closed(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: "object", additionalProperties: false, properties };
}
