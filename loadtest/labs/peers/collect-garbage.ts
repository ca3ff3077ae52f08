import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { openInspector } from '../../stack/inspector.ts';
import { accepts, waitUntil } from '../../stack/process.ts';

/** After SIGUSR1 Node listens here for a debugger, on loopback. */
const PORT = 9229;
const CLOSE_MS = 5000;
/** Collections in a row: the second one frees objects with finalisers. */
const TIMES = 2;

export function isNode(pid: number): boolean {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)) === 'node';
  } catch {
    return false;
  }
}

/**
 * Makes a Node process collect all its garbage, by its own debugger. Uncollected garbage is several times as large as the
 * live memory and differs from run to run. The debugger is closed again.
 * @throws when it does not answer, or when another process has that port.
 */
export async function collectGarbage(pid: number): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const inspector = await openInspector(PORT);
  try {
    const owner = await inspector.send('Runtime.evaluate', { expression: 'process.pid' });
    if (!JSON.stringify(owner).includes(`"value":${pid}`)) throw new Error(`another process has port ${PORT}`);
    for (let time = 0; time < TIMES; time += 1) await inspector.send('HeapProfiler.collectGarbage');
    // Later, because closing waits for the last client, which is this one.
    const close = "setTimeout(() => process.getBuiltinModule('node:inspector').close(), 50)";
    await inspector.send('Runtime.evaluate', { expression: `void ${close}` });
  } finally {
    inspector.close();
  }
  const isClosed = await waitUntil(async () => !(await accepts(PORT)), CLOSE_MS);
  if (!isClosed) throw new Error(`process ${pid} leaves its debugger open`);
}
