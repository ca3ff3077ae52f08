import { once } from 'node:events';
import { connect } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import type { Match, RespProxy } from '../../../loadtest/fault-proxy/resp-proxy.ts';

/** A connected client without retries and reconnects, so that the test sees every effect of the proxy. */
export async function redisAt(
  port: number,
  over: Pick<RedisOptions, 'protocol' | 'socketTimeout'> = {},
): Promise<Redis> {
  const client = new Redis({
    host: '127.0.0.1',
    port,
    protocol: 2,
    lazyConnect: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    disableClientInfo: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    ...over,
  });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Duration in milliseconds. */
export async function took(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work;
  return performance.now() - start;
}

/** How an attempt to connect ends: `open` after a reply to PING, `closed`, or an error code. */
export async function knock(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    return await Promise.race([once(socket, 'data').then(() => 'open'), once(socket, 'close').then(() => 'closed')]);
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  } finally {
    socket.destroy();
  }
}

/** Counts the commands that reach a proxy from now on, by name. */
export function countedAt(proxy: RespProxy, match: Match = () => undefined) {
  const counts = new Map<string, number>();
  proxy.answer((command) => {
    const name = String(command[0]).toUpperCase();
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return match(command);
  });
  return (name: string): number => counts.get(name) ?? 0;
}
