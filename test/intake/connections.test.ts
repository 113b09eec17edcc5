import assert from "node:assert/strict";
import { test } from "node:test";

import { Connections } from "../../src/intake/connections.ts";

test("the connection that is idle for longest makes room, whether or not it was used", () => {
  const connections = new Connections(2);
  const closed: string[] = [];
  const open = (key: string) => connections.opened(key, () => closed.push(key));
  const unused = open("unused");
  const used = open("used");
  assert.ok(unused && used);
  connections.began("used")();

  assert.ok(open("third"));
  assert.deepEqual(closed, ["unused"]);
  unused();
  assert.ok(open("fourth"));
  assert.deepEqual(closed, ["unused", "used"]);
});

test("a connection on which something is under way is left alone", () => {
  const connections = new Connections(1);
  const closed: string[] = [];
  const open = (key: string) => connections.opened(key, () => closed.push(key));
  const end = open("busy");
  assert.ok(end);
  const first = connections.began("busy");
  const second = connections.began("busy");
  first();
  assert.equal(open("other"), undefined);
  second();
  assert.ok(open("other"));
  assert.deepEqual(closed, ["busy"]);
});

test("what ends after its connection has leaves the next one of the same key alone", () => {
  const connections = new Connections(1);
  const end = connections.opened("key", assert.fail);
  assert.ok(end);
  const over = connections.began("key");
  end();
  assert.ok(connections.opened("key", assert.fail));
  connections.began("key");
  over();
  assert.equal(connections.opened("other", assert.fail), undefined);
});

test("a connection of a group that has many makes room before one that is idle for longer", () => {
  const connections = new Connections(16);
  const closed: string[] = [];
  const open = (key: string, group: string) => {
    assert.ok(connections.opened(key, () => closed.push(key)));
    connections.began(key, group)();
  };
  open("few 0", "few");
  open("few 1", "few");
  for (let nth = 0; nth < 14; nth++) open(`many ${nth}`, "many");
  assert.ok(connections.opened("new", assert.fail));
  assert.deepEqual(closed, ["many 0"]);
});

test("a connection that was just used makes no room while a group that has many is busy", () => {
  let now = 0;
  const connections = new Connections(100, () => now);
  const closed: string[] = [];
  const open = (key: string) => assert.ok(connections.opened(key, () => closed.push(key)));
  open("of another");
  connections.began("of another", "few")();
  for (let nth = 0; nth < 98; nth++) {
    open(`busy ${nth}`);
    connections.began(`busy ${nth}`, "many");
  }
  open("idle");
  connections.began("idle", "many")();
  open("first");
  assert.deepEqual(closed, ["idle"]);
  connections.began("first", "third");
  now = 999;
  assert.equal(connections.opened("second", assert.fail), undefined);
  now = 1_000;
  open("second");
  assert.deepEqual(closed, ["idle", "of another"]);
});

test("such a group is found behind many connections of other groups that are idle for longer", () => {
  const connections = new Connections(1000);
  const closed: string[] = [];
  const open = (key: string) => assert.ok(connections.opened(key, () => closed.push(key)));
  for (let nth = 0; nth < 800; nth++) {
    open(`of others ${nth}`);
    connections.began(`of others ${nth}`, `group ${nth % 8}`)();
  }
  for (let nth = 0; nth < 200; nth++) open(`new ${nth}`);
  open("one more");
  assert.deepEqual(closed, ["new 0"]);
});

test("without such a group the connection that is idle for longest makes room", () => {
  const connections = new Connections(16);
  const closed: string[] = [];
  for (let nth = 0; nth < 16; nth++) {
    assert.ok(connections.opened(`${nth}`, () => closed.push(`${nth}`)));
    connections.began(`${nth}`, `group ${nth % 8}`)();
  }
  assert.ok(connections.opened("new", assert.fail));
  assert.deepEqual(closed, ["0"]);
});
