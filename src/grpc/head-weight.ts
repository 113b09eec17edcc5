/** V8 searches the whole memory at the latest when what it knows of outside has grown by twice as much. */
const stepBytes = 33 * 1024 * 1024;

/** So many steps are kept: V8 has noticed the earlier ones. */
const stepsKept = 2;

/**
 * Makes V8 know what the heads of calls hold. Node gives their values to it as texts that stand outside of its
 * memory. It frees them only when it searches the whole memory, and does not count them when it decides to do that:
 * gigabytes would gather. But it counts buffers. So for each step of bytes that came with heads there is a buffer
 * of this size, which the system gives no memory since nothing is written to it (a smaller one may be given memory
 * that was used before).
 */
export class HeadWeight {
  #bytes = 0;
  readonly #buffers: ArrayBuffer[] = [];

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < stepBytes) return;
    this.#bytes -= stepBytes;
    this.#buffers.push(new ArrayBuffer(stepBytes));
    if (this.#buffers.length > stepsKept) this.#buffers.shift();
  }
}
