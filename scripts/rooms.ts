/**
 * Which rooms of src/ each room may import from, besides itself: lower rooms only. The linter and a
 * test both read this table; docs/decisions/0001-layout.md gives the reasons.
 */
const answering = ["base", "condition", "language", "plan"];
const storing = [...answering, "memory", "sql", "telemetry", "config"];
const serving = [...storing, "intake", "store", "service", "auth"];

export const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  condition: ["base"],
  language: ["base", "condition"],
  plan: ["base", "condition", "language"],
  memory: answering,
  sql: answering,
  authoring: [...answering, "sql"],
  intake: ["base"],
  telemetry: ["base", "intake"],
  config: ["base"],
  store: [...storing, "intake"],
  service: [...storing, "intake", "store"],
  auth: ["base", "config", "intake"],
  // One instance of several processes: what they tell each other, and which has what part of a limit.
  workers: ["base", "config", "telemetry", "intake", "auth"],
  gen: [],
  // The methods of the API, for every transport whose requests and answers are messages.
  messages: [...serving, "gen"],
  http: [...serving, "gen", "messages"],
  grpc: [...serving, "gen", "messages"],
  // Instances ask each other over gRPC, in place of a store.
  distributed: [...serving, "gen", "messages", "grpc"],
  // They ask as a client does, without a server.
  "model-test": [...storing, "intake", "store", "service"],
  // What an editor asks of a text. It also runs in a browser.
  editor: [...answering, "sql", "authoring", "model-test"],
  // The page of the browser: of a server it only has the types of answers.
  lsp: [...answering, "sql", "authoring", "model-test", "editor"],
  console: [...serving, "authoring", "http", "model-test", "editor"],
  // A command is where the servers are put together.
  cli: [
    ...serving,
    "authoring",
    "gen",
    "messages",
    "http",
    "grpc",
    "distributed",
    "workers",
    "model-test",
    "lsp",
  ],
  // For those who test against Pemba: only their processes load it.
  testing: ["config", "cli"],
};

/** The same for the rooms of src/store/postgres; what stands beside them puts them together. */
const postgresRooms: Readonly<Record<string, readonly string[]>> = {
  connect: [],
  token: ["connect"],
  replicas: ["connect", "token"],
  data: ["connect", "token", "replicas"],
  questions: ["connect", "token", "replicas"],
  checks: ["connect", "token", "replicas", "questions"],
  watch: ["connect", "token"],
  "sql-interface": ["connect"],
};

/** The same for the rooms of src/sql. */
const sqlRooms: Readonly<Record<string, readonly string[]>> = {
  text: [],
  condition: ["text"],
  state: ["text"],
  search: ["text", "condition", "state"],
  gather: ["text", "state"],
  lookup: ["text", "state", "search", "gather"],
  function: ["text", "state", "search", "lookup"],
  list: ["text", "state", "search", "lookup", "function"],
  application: ["text", "function", "list"],
};

/** The rooms inside a room, by its path. */
export const roomsOf: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "src/store/postgres": postgresRooms,
  "src/sql": sqlRooms,
};

export function mustNotImport(room: string): readonly string[] {
  const allowed = mayImport[room] ?? [];
  return Object.keys(mayImport).filter((other) => other !== room && !allowed.includes(other));
}
