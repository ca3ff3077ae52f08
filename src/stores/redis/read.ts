import type { StoreFault } from '../../cache/reason.ts';
import type { StoreRead } from '../../cache/store.ts';
import { armDeadline } from './deadline.ts';
import { FAULTS, type RedisNode } from './node.ts';
import { classify } from './reply-error.ts';

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

    send(node, name, hop).then(
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
const send = (node: RedisNode, name: string, hop: Hop): Promise<unknown> =>
  hop === 'asking' ? askFor(node, name) : node.redis.getBuffer(name);

function report(node: RedisNode, result: 'value' | 'absent' | StoreFault, durationMs: number): void {
  node.observe({ kind: 'command', operation: 'read', node: node.address, result, durationMs });
}
