import type { StoreFault } from '../../cache/reason.ts';
import type { StoreWrite } from '../../cache/store.ts';
import type { RedisNode } from './node.ts';
import type { Hop } from './read.ts';
import { classify } from './reply-error.ts';

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
