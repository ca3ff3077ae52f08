import { join } from 'node:path';
import { createRandom, seedOf } from '../../loadtest/random.ts';
import { systemClock } from '../../src/runtime.ts';
import type { RedisSettings } from '../../src/stores/redis/connection.ts';
import { entryOf } from '../fakes/entry.ts';
import { healthyReply, type RespServer, startRespServer } from '../fakes/resp-server.ts';
import { mutated } from './mutate-resp.ts';
import { type Mutations, type MutationsResult, runMutations } from './mutation-run.ts';
import type { SubjectReport, SubjectSearch, SubjectTask } from './mutations-resp-subject.ts';

/**
 * Damaged replies of Redis servers. For each a child process opens a store on a server that damages its first reply to one
 * command. All other replies are right, and the store must serve the right entries in the end.
 */
export const RESP_MUTATIONS: Mutations = {
  name: 'replies',
  about: 'damages N replies of Redis servers, in three topologies',
  run: (seed, count) =>
    runCases(
      Array.from({ length: count }, (_, id) => ({
        id,
        command: COMMANDS[id % COMMANDS.length] as RespCase['command'],
        reply: (valid, others) => mutated(valid, others, createRandom(seedOf(seed, id))),
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

type Ask = (task: SubjectTask) => Promise<SubjectReport | string>;

function runCases(cases: readonly RespCase[]): Promise<MutationsResult> {
  return runMutations({ cases, send, subject: join(import.meta.dirname, 'mutations-resp-subject.ts') });
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

async function send(each: RespCase, ask: Ask): Promise<string | undefined> {
  const server = await startRespServer(STORED);
  try {
    const bytes = armed(server, each);
    const report = await ask({ id: each.id, settings: settingsOf(each, server), searches: SEARCHES });
    const wrong = typeof report === 'string' ? report : report.wrong.join('; ');
    if (wrong === '' && bytes() !== undefined) return undefined;
    const sent = bytes()?.toString('hex') ?? 'not sent';
    return `case ${each.id}, to ${each.command}, ${sent}: ${wrong || 'the command was not asked'}`;
  } finally {
    await server.stop();
  }
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
    deadlineMs: 200,
    // Enough for a slow machine. A damaged reply that does not end costs its connection after the timeout of the socket.
    connectTimeoutMs: 2000,
    socketTimeoutMs: 2000,
    refreshMs: 1000,
    maxOutstanding: 1024,
    batchSize: 128,
    dedicated: false,
    shared: false,
  };
  if (command === 'SENTINEL' || (command === 'INFO' && id % 2 === 0)) {
    return { kind: 'sentinel', sentinels: nodes, master: 'm', database: 0, ...connection };
  }
  if (command === 'CLUSTER' || id % 3 === 0) return { kind: 'cluster', nodes, ...connection };
  return { kind: 'standalone', nodes, database: 0, ...connection };
}
