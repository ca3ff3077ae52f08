/** Far above the number of turns that any code under test needs. */
const MAX_TURNS = 100_000;
/** Node's names of `setImmediate` and of file operations. */
const WORK = ['Immediate', 'FSReqPromise', 'FSReqCallback', 'CloseReq'];

/**
 * Waits until only a timer, a socket or the test itself can continue: every promise chain has ended, and no `setImmediate`
 * and no file operation is pending. Then a test may assert that something did not happen.
 */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!process.getActiveResourcesInfo().some((kind) => WORK.includes(kind))) return;
  }
  throw new Error(`still at work after ${MAX_TURNS} turns of the event loop`);
}
