import { must } from "../../src/base/assert.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Story } from "../differential/story.ts";
import { switchFault } from "./fault-switch.ts";
import type { Ask, Scene, Trial } from "./trial.ts";

const maxSchemaCacheBytes = 64 * 1024 * 1024;

/** A statement that runs longer than this has a fault, or no answer is worth waiting for. */
const statementMs = 10_000;

/** What Postgres was told of a scene: all but the store, so that another process can go on with it. */
export type Kept = readonly Omit<Story, "store">[];

/**
 * Where trials take place. Data are told once to Postgres, but every run has stores of its own, and
 * with them plans and statements of its own: what a fault makes of them ends with the run.
 */
export class Stage {
  readonly #url: string;
  readonly #keep: (trial: number, kept: Kept) => void;
  readonly #told = new Map<Scene, readonly Story[]>();
  readonly #sound = new Map<Scene, readonly Story[]>();
  readonly #asks = new Map<Trial, Ask>();
  #postgres: Store | undefined;

  constructor(url: string, keep: (trial: number, kept: Kept) => void) {
    this.#url = url;
    this.#keep = keep;
  }

  /** What another process told Postgres. */
  async recall({ scene }: Trial, kept: Kept): Promise<void> {
    const store = await this.#base();
    this.#told.set(
      scene,
      kept.map((one) => ({ ...one, store })),
    );
  }

  /** Works out what the trial may answer, once and without a fault. */
  async prepare(trial: Trial): Promise<void> {
    if (trial.engine === "postgres") await this.#tellPostgres(trial);
    if (this.#asks.has(trial)) return;
    let sound = this.#sound.get(trial.scene);
    if (sound === undefined) {
      sound = await trial.scene.tell(createMemoryStore({ maxSchemaCacheBytes }));
      this.#sound.set(trial.scene, sound);
    }
    this.#asks.set(trial, await trial.form.prepare(sound));
  }

  /** Stores that nothing has been asked of. */
  open(): Run {
    return new Run({
      url: this.#url,
      told: (scene) => must(this.#told.get(scene), "the trial is prepared"),
      ask: (trial) => must(this.#asks.get(trial), "the trial is prepared"),
    });
  }

  async close(): Promise<void> {
    await this.#postgres?.close();
  }

  async #tellPostgres({ id, scene }: Trial): Promise<void> {
    if (this.#told.has(scene)) return;
    const told = await scene.tell(await this.#base());
    this.#told.set(scene, told);
    const kept = told.map(({ tenant, versions, tokens }) => ({ tenant, versions, tokens }));
    this.#keep(id, kept);
  }

  async #base(): Promise<Store> {
    this.#postgres ??= await openPostgres(this.#url, { autoMigrate: true });
    return this.#postgres;
  }
}

interface RunParts {
  readonly url: string;
  readonly told: (scene: Scene) => readonly Story[];
  readonly ask: (trial: Trial) => Ask;
}

/** The stores of one run of trials. */
export class Run {
  readonly #parts: RunParts;
  readonly #memory = new Map<Scene, readonly Story[]>();
  #postgres: Store | undefined;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** What is wrong with the answers while a fault is on; anything that is thrown is wrong. */
  async fault(trial: Trial, id: number | undefined): Promise<string | undefined> {
    try {
      const told = await this.#tell(trial, id);
      switchFault(id);
      return await this.#parts.ask(trial)(told);
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    } finally {
      switchFault(undefined);
    }
  }

  async close(): Promise<void> {
    await this.#postgres?.close();
  }

  async #tell({ scene, engine }: Trial, id: number | undefined): Promise<readonly Story[]> {
    if (engine === "postgres") {
      const store = (this.#postgres ??= await openPostgres(this.#parts.url, {
        autoMigrate: false,
      }));
      return this.#parts.told(scene).map((story) => ({ ...story, store }));
    }
    let told = this.#memory.get(scene);
    if (told === undefined) {
      switchFault(id);
      told = await scene.tell(createMemoryStore({ maxSchemaCacheBytes }));
      this.#memory.set(scene, told);
    }
    return told;
  }
}

async function openPostgres(
  url: string,
  { autoMigrate }: { readonly autoMigrate: boolean },
): Promise<Store> {
  return await createPostgresStore({
    url,
    pool: { maxConnections: 2, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 10_000 },
    autoMigrate,
    maxRetries: 10,
    readTimeoutMs: statementMs,
    maxSchemaCacheBytes,
    warn: () => {},
  });
}
