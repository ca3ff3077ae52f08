import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { TestContext } from 'node:test';

/** Makes a FIFO that nobody reads and that takes no further byte, until the end of the test. */
export function makeFullFifo(t: TestContext, path: string): void {
  assert.equal(spawnSync('mkfifo', [path]).status, 0);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => closeSync(fd));
  const fill = (): void => {
    for (;;) writeSync(fd, ' '.repeat(4096));
  };
  assert.throws(fill, { code: 'EAGAIN' });
}
