/**
 * Test files that have a process of their own, and why. The others share processes
 * (`scripts/batches.ts`).
 */
export const alone: Readonly<Record<string, string>> = {
  "test/authoring/lint.test.ts": "measures the processor time of its process",
  "test/grpc/head-weight.test.ts": "measures the memory of its process",
  "test/http/heartbeat.test.ts": "measures the memory of its process, and stops its clock",
  "test/language/large-schema.test.ts": "measures the processor time of its process",
  "test/store/forgotten-tenants.test.ts": "measures the processor time of its process",
  "test/store/kept-memory.test.ts": "measures the memory of its process, and has V8 collect it",
  "test/testing/pemba-container.test.ts": "loads a package that listens for signals ever after",
  "test/workers/worker-process.test.ts": "makes its process the primary of a cluster",
};
