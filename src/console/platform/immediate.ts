const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];

port1.addEventListener("message", () => waiting.shift()?.());
port1.start();

/** Stands in for Node's: calls back after what waits already. Timers within timers would be slowed down. */
export function setImmediate(callback: () => void): void {
  waiting.push(callback);
  port2.postMessage(undefined);
}
