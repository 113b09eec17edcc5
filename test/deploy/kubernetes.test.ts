import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { parse } from "yaml";

import { loadConfig } from "../../src/config/load.ts";
import { defaultOf } from "../../src/config/option.ts";
import { options } from "../../src/config/options.ts";
import { healthPaths } from "../../src/http/routes/health.ts";
import { decodeStrictly, whyNoTools } from "../support/tools.ts";
import {
  at,
  kustomized,
  kustomizeFolder,
  manifestsOf,
  ofKind,
  secret,
  whyNoKubectl,
} from "./manifests.ts";

const overlays = ["memory", "postgres"] as const;

const ports = [
  { name: "http", port: defaultOf(options["server.http.port"]) },
  { name: "grpc", port: defaultOf(options["server.grpc.port"]) },
];

/** Found out before any test begins, since the run ends with the last test that it knows of. */
const noKubectl = await whyNoKubectl();

test("the pod listens where the configuration says by default", () => {
  const listed = ports.map(({ name, port }) => ({ name, containerPort: port }));
  assert.deepEqual(container("ports"), listed);
});

test("every probe asks for a path that there is, without a token", () => {
  for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
    assert.equal(container(probe, "httpGet", "port"), "http");
    assert.ok(healthPaths.has(String(container(probe, "httpGet", "path"))), probe);
  }
});

test("requests have their time to end before the pod is killed", () => {
  const pause = Number(container("lifecycle", "preStop", "exec", "command", 1));
  const grace = defaultOf(options["server.grace_period"]) / 1_000;
  const end = Number(pod("terminationGracePeriodSeconds"));
  assert.ok(end >= pause + grace + 5, `${end} s for ${pause} s and ${grace} s`);
});

for (const overlay of overlays) {
  test(`the configuration of ${overlay} is one that the server takes`, () => {
    const loaded = loadConfig({
      flags: new Map([["config", join(kustomizeFolder, overlay, "config.yaml")]]),
      env: overlay === "memory" ? {} : secret,
    });
    assert.deepEqual(loaded.kind === "problems" ? loaded.problems : loaded.warnings, []);
  });
}

describe("put together by kubectl", { skip: noKubectl }, () => {
  for (const overlay of overlays) {
    test(`${overlay} has one deployment, with a configuration of its own`, async () => {
      const all = await rendered(overlay);
      const [deployment, second] = ofKind(all, "Deployment");
      assert.ok(deployment !== undefined && second === undefined);
      const [map] = ofKind(all, "ConfigMap");
      const name = String(at(map, "metadata", "name"));
      assert.match(name, /^pemba-\w+$/);
      const volumes = at(deployment, "spec", "template", "spec", "volumes");
      assert.deepEqual(volumes, [{ name: "config", configMap: { name } }]);
      assert.equal(at(deployment, "spec", "replicas"), overlay === "memory" ? 1 : 3);
    });

    test(`${overlay} has no field that Kubernetes does not know`, async (t) => {
      const reason = whyNoTools("decode");
      if (reason !== false) {
        t.skip(reason);
        return;
      }
      assert.equal(await decodeStrictly(await kustomized(overlay)), "");
    });

    test(`${overlay} means its own pods wherever it selects some`, async () => {
      const all = await rendered(overlay);
      const labels = { "app.kubernetes.io/name": "pemba" };
      const places: readonly Place[] = [
        { kind: "Deployment", path: ["spec", "selector", "matchLabels"], count: 1 },
        { kind: "Deployment", path: ["spec", "template", "metadata", "labels"], count: 1 },
        { kind: "Service", path: ["spec", "selector"], count: 2 },
        { kind: "NetworkPolicy", path: ["spec", "podSelector", "matchLabels"], count: 1 },
        {
          kind: "PodDisruptionBudget",
          path: ["spec", "selector", "matchLabels"],
          count: overlay === "memory" ? 0 : 1,
        },
      ];
      for (const { kind, path, count } of places) {
        const found = ofKind(all, kind).map((one) => at(one, ...path));
        assert.deepEqual(
          found,
          Array.from({ length: count }, () => labels),
          kind,
        );
      }
    });

    test(`${overlay} lets in nothing but clients and its own pods, at ports that it has`, async () => {
      const all = await rendered(overlay);
      const own = { podSelector: { matchLabels: { "app.kubernetes.io/name": "pemba" } } };
      assert.deepEqual(
        ofKind(all, "NetworkPolicy").map((policy) => at(policy, "spec", "ingress")),
        [
          [
            { ports: ports.map(({ name }) => ({ port: name })) },
            { from: [own], ports: [{ port: defaultOf(options["distributed.port"]) }] },
          ],
        ],
      );
      const served = ofKind(all, "Service").flatMap((service) => at(service, "spec", "ports"));
      for (const entry of served) {
        const name = at(entry, "name");
        assert.equal(at(entry, "targetPort"), name);
        assert.equal(at(entry, "port"), ports.find((port) => port.name === name)?.port);
      }
    });
  }
});

interface Place {
  readonly kind: string;
  readonly path: readonly string[];
  readonly count: number;
}

function pod(...path: readonly (string | number)[]): unknown {
  const text = readFileSync(join(kustomizeFolder, "base/deployment.yaml"), "utf8");
  return at(parse(text), "spec", "template", "spec", ...path);
}

function container(...path: readonly (string | number)[]): unknown {
  return pod("containers", 0, ...path);
}

async function rendered(overlay: string): Promise<readonly unknown[]> {
  return manifestsOf(await kustomized(overlay));
}
