/**
 * Loaded before the service: its wall clock runs ahead of the machine's by what CLOCK_STEP_FILE says, in milliseconds.
 * The monotonic clock is never stepped.
 */
import { readFileSync, watchFile } from 'node:fs';

const file = process.env['CLOCK_STEP_FILE'];
const now = Date.now;
let aheadMs = 0;
const readStep = () => {
  aheadMs = Number(readFileSync(file, 'utf8')) || 0;
};
if (file !== undefined) {
  readStep();
  watchFile(file, { interval: 100, persistent: false }, readStep);
  Date.now = () => now() + aheadMs;
}
