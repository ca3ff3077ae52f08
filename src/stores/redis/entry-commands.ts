import type { StoreFault } from '../../cache/events.ts';
import type { StoreRead, StoreWrite } from '../../cache/store.ts';
import { FAULTS, type RedisNode } from './node.ts';
import { armDeadline, classify } from './send.ts';

/** Which way a command came to its node: at first, or by one redirect. A second redirect is a miss. */
export type Hop = 'first' | 'moved' | 'asking';

const ABSENT: StoreRead = { kind: 'absent' };

/** Replies are out of step with commands, or this is no Redis. */
export const NOT_A_VALUE = 'a reply to GET that is neither a string nor nil';

/**
 * GET on the node itself, so that whatever goes wrong is booked to the node it came from. Past the deadline the read
 * is abandoned: the connection stays, and the reply that may still come is `late`.
 */
export function readFrom(node: RedisNode, name: string, deadlineMs: number, hop: Hop = 'first'): Promise<StoreRead> {
  const pass = node.admitRead();
  if (typeof pass === 'string') {
    report(node, pass, 0);
    return Promise.resolve(FAULTS[pass]);
  }
  const startedMs = node.clock.monotonicMs();
  const elapsedMs = (): number => node.clock.monotonicMs() - startedMs;
  node.count(1);
  node.gather();
  return new Promise((resolve) => {
    let waiting = true;
    let resolveLate = (_value: Buffer | undefined): void => {};
    const cancel = armDeadline(node.clock, startedMs, deadlineMs, (ownStall) => {
      waiting = false;
      node.book(pass, ownStall ? 'unknown' : 'failed');
      report(node, 'store-slow', elapsedMs());
      const late = new Promise<Buffer | undefined>((settle) => {
        resolveLate = settle;
      });
      resolve({ kind: 'fault', fault: 'store-slow', late });
    });

    sendRead(node, name, hop).then(
      (reply) => {
        node.count(-1);
        const garbled = reply !== null && !Buffer.isBuffer(reply);
        if (garbled) node.distrust(NOT_A_VALUE);
        const value = Buffer.isBuffer(reply) ? reply : undefined;
        if (!waiting) {
          node.observe({ kind: 'late', node: node.address, hit: value !== undefined, durationMs: elapsedMs() });
          return resolveLate(value);
        }
        waiting = false;
        cancel();
        node.book(pass, garbled ? 'failed' : 'answered');
        if (garbled) {
          report(node, 'store-down', elapsedMs());
          return resolve(FAULTS['store-down']);
        }
        report(node, value === undefined ? 'absent' : 'value', elapsedMs());
        resolve(value === undefined ? ABSENT : { kind: 'value', value });
      },
      (error: Error) => {
        node.count(-1);
        // A connection that broke long after its reader left says nothing new.
        if (!waiting) return resolveLate(undefined);
        waiting = false;
        cancel();
        const failure = classify(error);
        node.book(pass, failure.kind === 'down' ? 'failed' : 'answered');
        if (failure.kind !== 'redirect') {
          if (failure.kind === 'down' || failure.remap) node.remap(error.message);
          report(node, 'store-down', elapsedMs());
          return resolve(FAULTS['store-down']);
        }
        if (!failure.ask) node.remap('MOVED');
        const target = hop === 'first' ? node.peer(failure.to) : undefined;
        if (target !== undefined) {
          const leftMs = Math.max(1, deadlineMs - elapsedMs());
          return resolve(readFrom(target, name, leftMs, failure.ask ? 'asking' : 'moved'));
        }
        report(node, 'absent', elapsedMs());
        resolve(ABSENT);
      },
    );
  });
}

async function askFor(node: RedisNode, name: string): Promise<unknown> {
  const replies = await node.redis.pipeline().asking().getBuffer(name).exec();
  const [error, value] = replies?.[1] ?? [new Error('no reply'), null];
  if (error !== null) throw error;
  return value;
}

// Asking lets one command through to a node that is only importing the slot.
const sendRead = (node: RedisNode, name: string, hop: Hop): Promise<unknown> =>
  hop === 'asking' ? askFor(node, name) : node.redis.getBuffer(name);

function report(node: RedisNode, result: 'value' | 'absent' | StoreFault, durationMs: number): void {
  node.observe({ kind: 'command', operation: 'read', node: node.address, result, durationMs });
}

const STORED: StoreWrite = { kind: 'stored' };

/**
 * SET … PX on the node itself. Nobody waits for it on a reply's path, so its end is the connection's: confirmed,
 * refused, or given up when `socketTimeout` reaps the socket.
 */
export async function writeTo(
  node: RedisNode,
  name: string,
  value: Buffer,
  ttlMs: number,
  hop: Hop = 'first',
): Promise<StoreWrite> {
  const pass = node.admitWrite(value.byteLength);
  if (typeof pass === 'string') return dropped(node, pass, 0);
  const startedMs = node.clock.monotonicMs();
  const elapsedMs = (): number => node.clock.monotonicMs() - startedMs;
  node.count(1, value.byteLength);
  node.gather();
  try {
    await send(node, name, value, Math.max(1, Math.ceil(ttlMs)), hop);
    node.count(-1, -value.byteLength);
  } catch (error) {
    node.count(-1, -value.byteLength);
    const failure = classify(error instanceof Error ? error : new Error(String(error)));
    // OOM and its like refuse a write and serve every read: only a node that is down is held against it.
    node.book(pass, failure.kind === 'down' ? 'failed' : 'answered');
    switch (failure.kind) {
      case 'down':
        node.remap('a write failed');
        return dropped(node, 'store-down', elapsedMs());
      case 'refused':
        if (failure.remap) node.remap('a write was refused');
        return dropped(node, 'refused', elapsedMs());
      case 'redirect': {
        if (!failure.ask) node.remap('MOVED');
        const target = hop === 'first' ? node.peer(failure.to) : undefined;
        if (target === undefined) return dropped(node, 'refused', elapsedMs());
        return writeTo(target, name, value, ttlMs, failure.ask ? 'asking' : 'moved');
      }
    }
  }
  node.book(pass, 'answered');
  node.observe({
    kind: 'command',
    operation: 'write',
    node: node.address,
    result: 'stored',
    durationMs: elapsedMs(),
  });
  return STORED;
}

async function send(node: RedisNode, name: string, value: Buffer, ttlMs: number, hop: Hop): Promise<void> {
  if (hop !== 'asking') {
    await node.redis.set(name, value, 'PX', ttlMs);
    return;
  }
  const replies = await node.redis.pipeline().asking().set(name, value, 'PX', ttlMs).exec();
  const error = replies?.[1]?.[0];
  if (error) throw error;
}

function dropped(node: RedisNode, fault: StoreFault | 'refused', durationMs: number): StoreWrite {
  node.observe({ kind: 'command', operation: 'write', node: node.address, result: fault, durationMs });
  return { kind: 'dropped', fault };
}
