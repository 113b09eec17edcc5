/** The tenant of Pemba. The policies in `sql/printed` name it as well. */
export const tenant = "t1";

/**
 * How permissions are changed: by requests to Pemba's server, by functions of Pemba in the application's own
 * transactions, or by rows of its tables, from which triggers derive them.
 */
const sharingWays = ["service", "sql", "maps"] as const;

export type SharingWay = (typeof sharingWays)[number];

/** What the environment says. */
export interface Settings {
  /** The database, as the role that serves pages. */
  readonly databaseUrl: string;
  /** The database, as the owner of the tables. */
  readonly ownerDatabaseUrl: string;
  readonly pembaUrl: string;
  /** Sent with each request to Pemba; empty when its authentication is off. */
  readonly pembaToken: string;
  /** Whether tables have policies, and each transaction names its user. */
  readonly hasRowSecurity: boolean;
  readonly sharing: SharingWay;
  readonly host: string;
  readonly port: number;
}

/** Reads the settings. Fails with the name of the variable whose value does not fit. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  return {
    databaseUrl: urlOf(
      "DATABASE_URL",
      env["DATABASE_URL"] ?? "postgres://documents_app:documents_app@localhost:5432/pemba",
    ),
    ownerDatabaseUrl: urlOf(
      "OWNER_DATABASE_URL",
      env["OWNER_DATABASE_URL"] ?? "postgres://pemba:pemba@localhost:5432/pemba",
    ),
    pembaUrl: urlOf("PEMBA_URL", env["PEMBA_URL"] ?? "http://localhost:3476"),
    pembaToken: env["PEMBA_TOKEN"] ?? "",
    hasRowSecurity: booleanOf("ROW_SECURITY", env["ROW_SECURITY"] ?? "false"),
    sharing: wayOf("SHARING", env["SHARING"] ?? "service"),
    host: env["HOST"] ?? "127.0.0.1",
    port: portOf("PORT", env["PORT"] ?? "3000"),
  };
}

function urlOf(name: string, text: string): string {
  // The text may hold a password, so the message does not repeat it.
  if (!URL.canParse(text)) throw new Error(`${name} is not a URL`);
  return text;
}

function booleanOf(name: string, text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new Error(`${name} is \`${text}\`, expected true or false`);
}

function wayOf(name: string, text: string): SharingWay {
  const way = sharingWays.find((each) => each === text);
  if (way === undefined) throw new Error(`${name} is \`${text}\`, expected service, sql or maps`);
  return way;
}

function portOf(name: string, text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new Error(`${name} is \`${text}\`, expected a port from 0 to 65535`);
}
