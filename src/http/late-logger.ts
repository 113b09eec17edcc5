import type { FastifyBaseLogger, FastifyLogFn } from "fastify";
import type { Bindings, ChildLoggerOptions } from "pino";

type LogArguments = Parameters<FastifyLogFn>;

/**
 * Wraps a logger so that its children are created with their first line. The framework creates one
 * for each request, and most of them log nothing.
 */
export function lateChildren(logger: FastifyBaseLogger): FastifyBaseLogger {
  return new LateLogger(() => logger);
}

/** Created on first use. */
class LateLogger implements FastifyBaseLogger {
  readonly #make: () => FastifyBaseLogger;
  #made: FastifyBaseLogger | undefined;

  constructor(make: () => FastifyBaseLogger) {
    this.#make = make;
  }

  child(bindings: Bindings, options?: ChildLoggerOptions): FastifyBaseLogger {
    return new LateLogger(() => this.#logger.child(bindings, options));
  }

  get level(): string {
    return this.#logger.level;
  }

  fatal(...line: LogArguments): void {
    this.#logger.fatal(...line);
  }

  error(...line: LogArguments): void {
    this.#logger.error(...line);
  }

  warn(...line: LogArguments): void {
    this.#logger.warn(...line);
  }

  info(...line: LogArguments): void {
    this.#logger.info(...line);
  }

  debug(...line: LogArguments): void {
    this.#logger.debug(...line);
  }

  trace(...line: LogArguments): void {
    this.#logger.trace(...line);
  }

  silent(...line: LogArguments): void {
    this.#logger.silent(...line);
  }

  get #logger(): FastifyBaseLogger {
    this.#made ??= this.#make();
    return this.#made;
  }
}
