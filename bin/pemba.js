#!/usr/bin/env node
import { existsSync } from "node:fs";

// A clone runs its sources. A published package has none, since Node strips no types there.
const source = new URL("../src/main.ts", import.meta.url);
const main = existsSync(source) ? source : new URL("../dist/main.js", import.meta.url);
await import(main.href);
