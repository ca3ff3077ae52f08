import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createRandom } from '../../src/catalogue/demo/ad.ts';
import { systemClock } from '../../src/runtime.ts';
import type { RedisSettings } from '../../src/stores/redis/connection.ts';
import { entryOf } from '../fakes/entry.ts';
import { healthyReply, type RespServer, startRespServer } from '../fakes/resp-server.ts';
import { MAX_COUNT, type Mutations, type MutationsResult, mutated } from './mutate.ts';
import type { SubjectReport, SubjectSearch, SubjectTask } from './mutations-resp-subject.ts';

/**
 * Damaged replies of Redis servers. A child process opens a store for each, the first reply to one command is the damaged
 * one, all others are right, and the store must serve the right entries in the end.
 */
export const RESP_MUTATIONS: Mutations = {
  name: 'replies',
  about: 'damages N replies of Redis servers, in three topologies',
  run: (seed, count) =>
    runCases(
      Array.from({ length: count }, (_, id) => ({
        id,
        command: COMMANDS[id % COMMANDS.length] as RespCase['command'],
        reply: (valid, others) => mutated(valid, others, createRandom(seed * MAX_COUNT + id)),
      })),
    ),
  replay: (inputs) => {
    const commands = [...new Set(COMMANDS)];
    const at = (index: number) => inputs[Math.floor(index / commands.length)] ?? Buffer.alloc(0);
    return runCases(
      Array.from({ length: inputs.length * commands.length }, (_, id) => ({
        id,
        command: commands[id % commands.length] ?? 'GET',
        reply: () => at(id),
      })),
    );
  },
};

/** The commands whose replies are damaged. Those of ioredis itself come in their own topologies. */
const COMMANDS = [
  'GET',
  'CLUSTER',
  'GET',
  'SENTINEL',
  'INFO',
  'EVAL',
  'GET',
  'SCAN',
  'SET',
  'STRLEN',
  'CLIENT',
  'DBSIZE',
] as const;

interface RespCase {
  readonly id: number;
  readonly command: (typeof COMMANDS)[number];
  readonly reply: (valid: Buffer, others: readonly Buffer[]) => Buffer;
}

const SEARCHES: readonly SubjectSearch[] = ['one', 'two', 'three'].map((text) => ({
  name: `sc1:goods:{${text.padEnd(22, '0')}}`,
  canonical: `goods@x?q=${text}`,
  body: JSON.stringify({ query: text, results: Array.from({ length: 20 }, (_, at) => `${text} ${at}`) }),
}));
const STORED = new Map(
  SEARCHES.map(({ name, canonical, body }) => [
    name,
    entryOf(systemClock, { canonical, body: Buffer.from(body) }).encoded,
  ]),
);

/** Stores that are open at the same time. */
const LANES = 16;
/** Without a report for this time the process hangs, or a store does not serve again. */
const SILENCE_MS = 30_000;

async function runCases(cases: readonly RespCase[]): Promise<MutationsResult> {
  const { sent, failed } = await runTogether(cases);
  if (failed.length <= 1) return { sent, findings: failed.map(({ finding }) => finding) };
  // When the process ends, all that were under way fail with it: each is sent again to a process of its own.
  const alone: Failed[] = [];
  for (const { each } of failed) alone.push(...(await runTogether([each])).failed);
  return { sent, findings: (alone.length > 0 ? alone : failed).map(({ finding }) => finding) };
}

interface Failed {
  readonly each: RespCase;
  readonly finding: string;
}

/** Ends early when the process ends or hangs. */
async function runTogether(cases: readonly RespCase[]): Promise<{ sent: number; failed: readonly Failed[] }> {
  const failed: Failed[] = [];
  const rest = [...cases];
  let sent = 0;
  const subject = await startSubject();
  const lane = async (): Promise<void> => {
    const server = await startRespServer(STORED);
    try {
      for (let each = rest.shift(); each !== undefined && failed.length === 0; each = rest.shift()) {
        sent += 1;
        const bytes = armed(server, each);
        const finding = await subject.run({ id: each.id, settings: settingsOf(each, server), searches: SEARCHES });
        if (finding === undefined && bytes() !== undefined) continue;
        failed.push({
          each,
          finding: `case ${each.id}, to ${each.command}, ${bytes()?.toString('hex') ?? 'not sent'}: ${finding ?? 'the command was not asked'}`,
        });
      }
    } finally {
      await server.stop();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(LANES, cases.length) }, lane));
  } finally {
    await subject.stop();
  }
  return { sent, failed };
}

/** The first reply to the command is the damaged one. @returns its bytes, once they were sent */
function armed(server: RespServer, { id, command, reply }: RespCase): () => Buffer | undefined {
  let bytes: Buffer | undefined;
  server.answer((asked) => {
    if (bytes !== undefined || asked[0] !== command) return undefined;
    const valid = (name: string, ...args: string[]): Buffer =>
      Buffer.from(healthyReply([name, ...args], server.port, STORED));
    const others = [
      ...COMMANDS.map((name) => valid(name)),
      valid('GET', SEARCHES[id % SEARCHES.length]?.name ?? ''),
      valid('NONE'),
    ];
    bytes = reply(valid(...(asked as [string, ...string[]])), others);
    return bytes;
  });
  return () => bytes;
}

function settingsOf({ id, command }: RespCase, { host, port }: RespServer): RedisSettings {
  const nodes = [{ host, port }] as const;
  const connection = {
    ...{ deadlineMs: 200, connectTimeoutMs: 500, socketTimeoutMs: 400, refreshMs: 1000 },
    ...{ maxOutstanding: 1024, batchSize: 128, dedicated: false },
  };
  if (command === 'SENTINEL' || (command === 'INFO' && id % 2 === 0)) {
    return { kind: 'sentinel', sentinels: nodes, master: 'm', database: 0, ...connection };
  }
  if (command === 'CLUSTER' || id % 3 === 0) return { kind: 'cluster', nodes, ...connection };
  return { kind: 'standalone', nodes, database: 0, ...connection };
}

/** The child process. `run` resolves to what went wrong, or to undefined. */
async function startSubject() {
  const child: ChildProcess = fork(join(import.meta.dirname, 'mutations-resp-subject.ts'), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const waiting = new Map<number, (finding: string | undefined) => void>();
  let complaint = '';
  let ended: string | undefined;
  child.stderr?.on('data', (text: Buffer) => {
    complaint = `${complaint}${text}`.slice(-2000);
  });
  const end = (finding: string): void => {
    ended ??= finding;
    for (const settle of waiting.values()) settle(ended);
    waiting.clear();
  };
  let silence: NodeJS.Timeout | undefined;
  const heard = (): void => {
    clearTimeout(silence);
    if (waiting.size > 0) silence = setTimeout(() => end(`no report for ${SILENCE_MS} ms`), SILENCE_MS);
  };
  child.on('message', ({ id, wrong }: SubjectReport) => {
    const settle = waiting.get(id);
    waiting.delete(id);
    settle?.(wrong.length === 0 ? undefined : wrong.join('; '));
    heard();
  });
  child.on('close', (code, signal) => end(`the process ended (${signal ?? code}): ${complaint}`));
  await once(child, 'spawn');
  return {
    run: (task: SubjectTask): Promise<string | undefined> =>
      new Promise((resolve) => {
        if (ended !== undefined) return resolve(ended);
        waiting.set(task.id, resolve);
        child.send(task);
        if (waiting.size === 1) heard();
      }),
    stop: async (): Promise<void> => {
      clearTimeout(silence);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
