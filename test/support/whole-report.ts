/*
 * Loaded before each test file. Its report goes through a pipe, and where files are forced to end the
 * runner does not wait until what was written has gone (nodejs/node#64833): tests would be missing
 * from a run that says it passed. Node offers no public way to make a pipe wait; should this one cease
 * to work, the reporter tells which reports were cut off.
 */
const handle: unknown = Reflect.get(process.stdout, "_handle");
if (canBlock(handle)) handle.setBlocking(true);

function canBlock(value: unknown): value is { setBlocking(isBlocking: boolean): void } {
  return typeof value === "object" && value !== null && "setBlocking" in value;
}
