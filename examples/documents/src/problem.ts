/** A request that cannot be served, with what the user is told. */
export class Problem extends Error {
  /** The status of HTTP. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
