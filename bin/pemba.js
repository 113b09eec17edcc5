#!/usr/bin/env node
import { existsSync } from "node:fs";

// A clone runs its sources. A published package has none, since Node strips no types there.
const source = new URL("../src/main.ts", import.meta.url);
if (existsSync(source)) {
  await import("./needed-node.js");
  await import(source.href);
} else await import("../dist/main.js");
