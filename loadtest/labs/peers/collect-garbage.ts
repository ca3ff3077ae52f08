import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts } from '../../stack/process.ts';

/** Where Node listens for a debugger, on loopback, once SIGUSR1 told it to. */
const PORT = 9229;
const INSPECTOR = `http://127.0.0.1:${PORT}`;
const OPEN_MS = 5000;
const LOOK_EVERY_MS = 50;
const MOST_ANSWER_MS = 20_000;
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
  const inspector = await connected(await addressOf(pid));
  try {
    const owner = await inspector.ask('Runtime.evaluate', { expression: 'process.pid' });
    if (!JSON.stringify(owner).includes(`"value":${pid}`)) throw new Error(`another process has ${INSPECTOR}`);
    for (let time = 0; time < TIMES; time += 1) await inspector.ask('HeapProfiler.collectGarbage', {});
    // Later, because closing waits for the last client, which is this one.
    const close = "setTimeout(() => process.getBuiltinModule('node:inspector').close(), 50)";
    await inspector.ask('Runtime.evaluate', { expression: `void ${close}` });
  } finally {
    inspector.close();
  }
  await closed(pid);
}

async function addressOf(pid: number): Promise<string> {
  for (const untilMs = performance.now() + OPEN_MS; performance.now() < untilMs; await sleep(LOOK_EVERY_MS)) {
    const answer = await fetch(`${INSPECTOR}/json/list`).catch(() => undefined);
    if (answer === undefined) continue;
    const [first]: { webSocketDebuggerUrl?: string }[] = JSON.parse(await answer.text());
    if (first?.webSocketDebuggerUrl !== undefined) return first.webSocketDebuggerUrl;
  }
  throw new Error(`process ${pid} opens no debugger at ${INSPECTOR}`);
}

async function closed(pid: number): Promise<void> {
  for (const untilMs = performance.now() + OPEN_MS; performance.now() < untilMs; await sleep(LOOK_EVERY_MS)) {
    if (!(await accepts(PORT))) return;
  }
  throw new Error(`process ${pid} leaves its debugger open`);
}

interface Inspector {
  readonly ask: (method: string, parameters: object) => Promise<unknown>;
  readonly close: () => void;
}

async function connected(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  const signal = AbortSignal.timeout(MOST_ANSWER_MS);
  const next = (name: 'open' | 'message'): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error('the debugger of a peer does not answer'));
      socket.addEventListener(name, (event) => resolve('data' in event ? event.data : undefined), { once: true });
      socket.addEventListener('close', fail, { once: true });
      signal.addEventListener('abort', fail, { once: true });
    });
  await next('open');
  let id = 0;
  return {
    // One request at a time, and no debugger domain is enabled that sends events.
    ask: async (method, params) => {
      id += 1;
      const answered = next('message');
      socket.send(JSON.stringify({ id, method, params }));
      const { error, result } = JSON.parse(String(await answered));
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    close: () => socket.close(),
  };
}
