import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** A page in a browser without a window. */
export interface BrowserPage {
  /** The value of an expression in the page. A promise is awaited. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

const programs = ["chromium", "google-chrome", "chrome"];

/** The path of a browser. Undefined if the machine has none. */
export function findBrowser(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return programs.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

/** Opens an address in a browser as on a telephone with a screen of that width, in CSS pixels. */
export async function openPage(program: string, url: string, width: number): Promise<BrowserPage> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-browser-"));
  const browser = spawn(
    program,
    // Without a sandbox, because it does not start for root. It opens pages of the test alone.
    [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--remote-debugging-port=0",
      `--user-data-dir=${folder}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(browser, "close");
  const close = async (): Promise<void> => {
    browser.kill();
    await ended;
    rmSync(folder, { recursive: true });
  };
  try {
    const { port } = new URL(await debuggerOf(browser));
    const target = await fetch(`http://127.0.0.1:${port}/json/new?about:blank`, { method: "PUT" });
    const { webSocketDebuggerUrl } = (await target.json()) as { webSocketDebuggerUrl: string };
    const call = await callerOf(webSocketDebuggerUrl);
    const screen = { width, height: 900, deviceScaleFactor: 1, mobile: true };
    await call("Emulation.setDeviceMetricsOverride", screen);
    await call("Page.navigate", { url });
    return {
      close,
      evaluate: async (expression) => {
        const asked = { expression, returnByValue: true, awaitPromise: true };
        const { result } = (await call("Runtime.evaluate", asked)) as {
          result: { value: unknown };
        };
        return result.value;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the browser prints when it can be asked. */
async function debuggerOf(browser: ChildProcess): Promise<string> {
  return await new Promise((resolve, reject) => {
    let text = "";
    browser.stderr?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const [, url] = /DevTools listening on (ws:\S+)/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    });
    browser.on("close", () => reject(new Error(`the browser ended: ${text}`)));
  });
}

type Call = (method: string, params: object) => Promise<unknown>;

async function callerOf(url: string): Promise<Call> {
  const socket = new WebSocket(url);
  await once(socket, "open");
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  let calls = 0;
  return async (method, params) =>
    await new Promise((resolve) => {
      const id = ++calls;
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
