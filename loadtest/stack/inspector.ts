import { setTimeout as sleep } from 'node:timers/promises';

const OPEN_MS = 5000;
const LOOK_EVERY_MS = 50;
const MOST_ANSWER_MS = 20_000;

/**
 * The debugger of a Node process on loopback: one request at a time, and no debugger domain that sends events.
 * @throws when none opens within 5 s.
 */
export async function openInspector(port: number) {
  const socket = new WebSocket(await addressOf(port));
  const next = (name: 'open' | 'message'): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error(`the debugger at port ${port} does not answer`));
      socket.addEventListener(name, (event) => resolve('data' in event ? event.data : undefined), { once: true });
      socket.addEventListener('close', fail, { once: true });
      AbortSignal.timeout(MOST_ANSWER_MS).addEventListener('abort', fail, { once: true });
    });
  await next('open');
  let id = 0;
  return {
    send: async (method: string, params: object = {}): Promise<unknown> => {
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

async function addressOf(port: number): Promise<string> {
  for (const untilMs = performance.now() + OPEN_MS; performance.now() < untilMs; await sleep(LOOK_EVERY_MS)) {
    const answer = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
    if (answer === undefined) continue;
    const [first] = (await answer.json()) as { webSocketDebuggerUrl?: string }[];
    if (first?.webSocketDebuggerUrl !== undefined) return first.webSocketDebuggerUrl;
  }
  throw new Error(`no debugger opens at port ${port}`);
}
