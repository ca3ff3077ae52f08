/** Far above what any code under test takes in one go. */
const MAX_TURNS = 100_000;
/** What node calls `setImmediate` and the operations of files. */
const WORK = ['Immediate', 'FSReqPromise', 'FSReqCallback', 'CloseReq'];

/**
 * Waits until only a timer, a socket or the test itself can go on: every promise chain has run out, and no `setImmediate`
 * and no operation of a file is under way. Then a test may claim that something did not happen.
 */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!process.getActiveResourcesInfo().some((kind) => WORK.includes(kind))) return;
  }
  throw new Error(`still at work after ${MAX_TURNS} turns of the event loop`);
}
