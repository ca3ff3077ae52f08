import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Report } from '../../src/operations/doctor/report.ts';
import type { HostPort } from '../../src/schema/units.ts';
import { systemPath } from '../labs/kit/programs.ts';
import { linkUp, until } from '../stack/redis.ts';
import type { RedisNode } from '../stack/redis-node.ts';
import type { DoctorHarness } from './doctor-harness.ts';

/** Sets a directive, and the former value at the end. */
export async function configured(node: RedisNode, name: string, value: string): Promise<() => Promise<void>> {
  const [, before = ''] = (await node.command('CONFIG', 'GET', name)) as readonly string[];
  await node.command('CONFIG', 'SET', name, value);
  return async () => void (await node.command('CONFIG', 'SET', name, before));
}

/** No fault lasts longer, whatever happens to the rehearsal. */
const MAX_FAULT_MS = 120_000;

/** Repeats the work, one after the other, with a pause between. @returns its end */
export function repeated(pauseMs: number, work: () => Promise<unknown>): () => Promise<void> {
  let isOver = false;
  const untilMs = performance.now() + MAX_FAULT_MS;
  const loop = (async () => {
    while (!isOver && performance.now() < untilMs) {
      // A server that refuses is often the fault itself.
      await work().catch(() => undefined);
      await sleep(pauseMs);
    }
  })();
  return async () => {
    isOver = true;
    await loop;
  };
}

/** One end for several things that were begun: the last one ends first. */
export function inReverse(...ends: readonly (() => unknown)[]): () => Promise<void> {
  return async () => {
    for (const end of ends.toReversed()) await end();
  };
}

export async function opened({ host, port }: HostPort): Promise<Socket> {
  const socket = connect({ host, port });
  socket.on('error', () => undefined);
  await once(socket, 'connect').catch(() => undefined);
  return socket;
}

/** Opens connections and keeps them. @param says sent by each at first @returns their end */
export async function held(
  node: HostPort,
  count: number,
  says = 'PING\r\n',
  reads = true,
): Promise<() => Promise<void>> {
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = await opened(node);
    if (reads) socket.resume();
    else socket.pause();
    socket.write(says);
    sockets.push(socket);
  }
  return async () => {
    for (const socket of sockets) socket.destroy();
  };
}

/** Pipelines of GETs of one name over one connection, as fast as they are answered. */
export function flooded(node: RedisNode, name: string): () => Promise<void> {
  const commands = Array.from({ length: 50 }, () => ['get', name]);
  return overConnection(node, 8, (client) => client.pipeline(commands).exec());
}

/** A free name whose slot the node owns. */
export async function nameAt(node: RedisNode): Promise<string> {
  for (let at = 0; at < 1000; at += 1) {
    const name = `other:${at}`;
    const found = await node.command('GET', name).catch(() => 'moved');
    if (found === null) return name;
  }
  throw new Error(`no name belongs to ${node.address}`);
}

/** Burns processor time for that number of milliseconds, by the server's clock. */
export const BUSY = `
local function now() local time = redis.call('TIME') return time[1] * 1000 + time[2] / 1000 end
local from = now()
while now() - from < tonumber(ARGV[1]) do end
return 1`;

type Client = Parameters<Parameters<RedisNode['onConnection']>[0]>[0];

/** Repeats the work over one connection. @returns its end */
export function overConnection(
  node: RedisNode,
  pauseMs: number,
  work: (client: Client) => Promise<unknown>,
): () => Promise<void> {
  const over = Promise.withResolvers<void>();
  const working = node.onConnection(async (client) => {
    const end = repeated(pauseMs, () => work(client));
    await over.promise;
    await end();
  });
  // A server that refuses is often the fault itself.
  const ended = working.catch(() => undefined);
  return async () => {
    over.resolve();
    await ended;
  };
}

interface Writing {
  readonly count: number;
  readonly bytes: number;
  readonly pauseMs: number;
  /** The name of each value; absent: another one each time. */
  readonly name?: string;
}

let written = 0;

/** Writes values that expire in ten minutes, again and again over one connection. */
export function writing(node: RedisNode, { count, bytes, pauseMs, name }: Writing): () => Promise<void> {
  return overConnection(node, pauseMs, (client) => {
    const commands = Array.from({ length: count }, () => {
      written += 1;
      return ['set', name ?? `other:${written}`, 'x'.repeat(bytes), 'EX', '600'];
    });
    return client.pipeline(commands).exec();
  });
}

export async function connectedClients(node: RedisNode): Promise<number> {
  return Number(/connected_clients:(\d+)/.exec(String(await node.command('INFO', 'clients')))?.[1]);
}

export function replicaIsUp(replica: RedisNode): Promise<void> {
  return until('the replica to be in step', () => linkUp(replica));
}

const run = promisify(execFile);
const CLI = join(import.meta.dirname, '../../src/cli.ts');
const LIMIT_MS = 60_000;
const VALUE_BYTES = 50_000;

/**
 * A limiter on the way of the replies, on the host of the store. The doctor of the service cannot see it and says that this
 * host was not looked at; `doctor --host` there makes the part that `--merge` joins.
 */
export async function farLimiter({ patients, directory, env, examine }: DoctorHarness) {
  const { wire, cars } = patients;
  const startedMs = performance.now();
  await wire.shape('replies', ['tbf', 'rate', '50mbit', 'burst', '2kb', 'latency', '40ms']);
  await cars.command('SET', 'other:far', 'x'.repeat(VALUE_BYTES));
  const end = inReverse(
    () => cars.command('DEL', 'other:far'),
    () => wire.shape('replies', undefined),
    ...Array.from({ length: 4 }, () => overConnection(cars, 100, (client) => client.get('other:far'))),
  );
  try {
    const alone = await examine();
    const [program = 'nsenter', ...words] = wire.through;
    const limits = { timeout: LIMIT_MS, maxBuffer: 2 ** 24, env: { ...process.env, ...systemPath(), ...env } };
    const part = await run(program, [...words, process.execPath, CLI, 'doctor', '--host'], limits);
    const file = join(directory, 'part.json');
    writeFileSync(file, part.stdout);
    const merged = await run(process.execPath, [CLI, 'doctor', '--merge', file, '--json'], limits)
      // Exit status 1: it has findings.
      .catch((error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }));
    return { alone, merged: JSON.parse(merged.stdout) as Report, seconds: (performance.now() - startedMs) / 1000 };
  } finally {
    await end();
  }
}
