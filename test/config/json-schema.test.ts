import assert from "node:assert/strict";
import { test } from "node:test";

import { Ajv2020 } from "ajv/dist/2020.js";
import { isScalar, parse, parseDocument } from "yaml";

import { configurationSchema } from "../../src/config/json-schema.ts";
import { keyNames } from "../../src/config/key-name.ts";
import type { Option } from "../../src/config/option.ts";
import { optionKeys, options } from "../../src/config/options.ts";
import { file, problemsOf } from "../support/given-config.ts";

/** Of all sorts, for every key to be tried with each. */
const texts: readonly string[] = [
  "|0|1|7|007|100|3476|70000|1.25|-1|0x10|1e3|true|True|FALSE|yes",
  '[{"key": "a", "scopes": ["check"]}]|debug|json|memory|postgres|oidc|otlp|zipkin|grpc|RS256|RS256,EdDSA',
  "0s|300s|1.5h|1h30m|500ms|876000h|10MiB|10MB|1.5 kb|5B",
  "*|https://a.example|http://b:8080/c|127.0.0.1|::1|localhost|a.b_c|host:4317",
  "dns:///peers:5000|static:///a:1,[::1]:2|authorization|x-a:b c|/a/b.pem",
  "postgres://u:p%40@h,i/x?a=b|postgresql:///x?search_path=a|a b|a, b|gr\u00fcn|a\nb",
  "documented|protobuf|write|command|document.view@user|folder.*@group#member|setting:app.user|jwt:sub",
].flatMap((line) => line.split("|"));

/*
 * The schema is held against the loader: a file is valid when the loader takes it, and no other one
 * is. What neither spelling (`0x10` for 16) nor a range of a number within quotes tells a schema is
 * left out.
 */

const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(
  configurationSchema(),
);

const good: readonly string[] = [
  "",
  "server:\n",
  "logger: {level: debug, output: text, file: ~}",
  'server: {rate_limit: 100, http: {enabled: true, port: "3476"}, grpc: {port: 3478}}',
  "server: {http: {enabled: True, tls: {enabled: 'false'}}}",
  "server: {host: '::1'}",
  "server: {workers: auto}",
  "server: {workers: 1}",
  "server: {http: {grpc_target_host: 10.0.0.1, cors_allowed_origins: ['*'], cors_allowed_headers: []}}",
  "server: {http: {cors_allowed_origins: [https://a.example, 'http://b:8080']}}",
  "authn: {method: preshared, preshared: {keys: [k-one, k-two, 3]}}",
  "authn: {preshared: {keys: 'k-one, k-two'}}",
  "authn: {preshared: {scoped: []}}",
  "authn: {preshared: {scoped: [{key: 007, scopes: [check, watch]}]}}",
  "authn: {preshared: {scoped: [{key: a, name: b.c, scopes: [read], tenants: [t1, 7]}]}}",
  `authn: {preshared: {scoped: '[{"key": "a", "scopes": ["check"]}]'}}`,
  "authn: {method: '', oidc: {issuer: '', valid_methods: [RS256, EdDSA], refresh_interval: 1h30m}}",
  "authn: {oidc: {issuer: https://issuer.example/realms/x, audience: 12, backoff_frequency: 0}}",
  "authn: {oidc: {backoff_frequency: 0.5s, backoff_interval: 12s}}",
  "service: {schema: {cache: {max_cost: 10MiB, number_of_counters: 5}}}",
  "service: {schema: {cache: {max_cost: 1000}}}",
  "service: {schema: {cache: {max_cost: 1.5 kb}}}",
  "database: {uri: 'postgres://u:p@h:5432/x', max_connections: 5, connect_timeout: 0s}",
  "database: {uri: '', max_open_connections: 5}",
  "database: {garbage_collection: {enabled: true, interval: 1h, window: 200h, timeout: 5m}}",
  "server: {http: {tls: &tls {cert: a, key: b}}, grpc: {tls: {<<: *tls, enabled: false}}}",
];

const bad: readonly string[] = [
  "[]",
  "server",
  "sever: {}",
  "sever:",
  "server: 3",
  "server: {prot: 1}",
  "server: {http: {port: 70000}}",
  "server: {http: {port: -1}}",
  "server: {http: {port: 1.5}}",
  "server: {http: {port: [1]}}",
  "server: {http: {enabled: yes}}",
  "server: {http: {enabled: 1}}",
  "server: {host: 'a b'}",
  "server: {workers: 0}",
  "server: {workers: Auto}",
  "server: {http: {cors_allowed_origins: [a.example]}}",
  "server: {http: {cors_allowed_headers: ['a b']}}",
  "server.http.port: 1",
  "logger: {level: warning}",
  "logger: {level: {a: b}}",
  "authn: {method: none}",
  "authn: {preshared: {keys: [a, {b: c}]}}",
  "authn: {preshared: {keys: [a, ~]}}",
  "authn: {preshared: {keys: ['a b']}}",
  "authn: {preshared: {scoped: {key: a}}}",
  "authn: {preshared: {scoped: [{key: a}]}}",
  "authn: {preshared: {scoped: [{key: a, scopes: []}]}}",
  "authn: {preshared: {scoped: [{key: a, scopes: [chek]}]}}",
  "authn: {preshared: {scoped: [{key: a, scopes: check}]}}",
  "authn: {preshared: {scoped: [{key: a, scopes: [check], tenant: [t1]}]}}",
  "authn: {preshared: {scoped: [{key: a, scopes: [check], tenants: ['*']}]}}",
  "authn: {preshared: {scoped: [{key: a, scopes: [check], tenants: ~}]}}",
  "authn: {preshared: {scoped: [{key: a, scopes: [check], name: 'b c'}]}}",
  "authn: {oidc: {issuer: 'https://u:p@a'}}",
  "authn: {oidc: {valid_methods: [none]}}",
  "authn: {oidc: {refresh_interval: 0s}}",
  "authn: {oidc: {refresh_interval: 15}}",
  "authn: {oidc: {backoff_frequency: 15}}",
  "authn: {oidc: {backoff_frequency: 1d}}",
  "service: {permission: {bulk_limit: 101}}",
  "service: {schema: {cache: {max_cost: 0}}}",
  "service: {schema: {cache: {max_cost: 0MB}}}",
  "service: {schema: {cache: {max_cost: 10M}}}",
  "database: {uri: 'mysql://h'}",
  "database: {engine: mysql}",
  "database: {max_open_connections: 0}",
];

test("a file is valid when it is taken, and what is refused is not", (t) => {
  for (const text of [...good, ...bad]) {
    const problems = problemsOf({ args: ["-c", file(t, text)] });
    const isGood = good.includes(text);
    assert.equal(problems.length === 0, isGood, `${text}: ${problems.join()}`);
    const isValid = validate(parse(text, { merge: true }));
    assert.equal(isValid, isGood, `${text}: ${JSON.stringify(validate.errors)}`);
  }
});

test("every key is in the schema, with what it means, and its default is valid", () => {
  for (const { name, key } of keyNames) {
    const property: unknown = name
      .split(".")
      .reduce((schema: unknown, step) => propertyOf(schema, step), configurationSchema());
    assert.ok(typeof property === "object" && property !== null && "description" in property, name);
    assert.equal("deprecated" in property, name !== key, name);
    if (name !== key) continue;
    assert.ok(String(property.description).startsWith(options[key].about));
    assert.ok("default" in property, name);
    const nested = name
      .split(".")
      .reduceRight<unknown>((value, step) => ({ [step]: value }), property.default);
    assert.ok(validate(nested), `${name}: ${JSON.stringify(validate.errors)}`);
  }
});

test("every value that a key takes is valid in the schema, in every spelling", () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  for (const key of optionKeys) {
    const { kind }: Option<unknown> = options[key];
    const isValid = ajv.compile(kind.schema);
    let taken = 0;
    for (const written of texts.flatMap((text) => [text, JSON.stringify(text)])) {
      const { contents } = parseDocument(written);
      // A file has nothing to give where there is nothing, nor where a text is no plain one.
      if (!isScalar(contents) || contents.value === null || contents.source === undefined) continue;
      const { value, source } = contents;
      if (kind.read(source) !== undefined) {
        taken += 1;
        assert.ok(isValid(value), `${key}: ${written}`);
      }
      if (kind.readItems?.([source, source]) !== undefined) {
        assert.ok(isValid([value, value]), `${key}: a list of ${written}`);
      }
    }
    assert.ok(taken > 0, `${key} takes none of them`);
  }
});

function propertyOf(schema: unknown, step: string): unknown {
  assert.ok(typeof schema === "object" && schema !== null && "properties" in schema, step);
  const { properties } = schema;
  assert.ok(typeof properties === "object" && properties !== null && step in properties, step);
  return Object.entries(properties).find(([name]) => name === step)?.[1];
}
