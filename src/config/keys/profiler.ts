import { anyText, boolean, port } from "../kind.ts";
import { option } from "../option.ts";

/** Profiles of processor time and memory. */
export const profilerOptions = {
  "profiler.enabled": option(boolean, {
    flag: "profiler-enabled",
    default: "true",
    about: "whether profiles can be taken; it costs nothing while none is taken",
  }),
  "profiler.host": option(anyText, {
    flag: "profiler-host",
    default: "127.0.0.1",
    about: "address of the profiler, which needs no token; empty for all interfaces",
  }),
  "profiler.port": option(port, {
    flag: "profiler-port",
    default: "6060",
    about: "port of the profiler; if it is in use, the profiler is not started",
  }),
} as const;
