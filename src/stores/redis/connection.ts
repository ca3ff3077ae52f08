import type { Redis } from 'ioredis';
import type { StoreEvent } from '../../cache/store.ts';
import { guardFraming } from './framing.ts';

export interface ConnectionWatch {
  readonly address: () => string;
  readonly observe: (event: StoreEvent) => void;
  readonly onReady: () => void;
  /** It ends because what came is no RESP. */
  readonly onGarbage: () => void;
}

/**
 * Turns the events of one ioredis connection into ours, and ends it when what comes is no RESP. It always listens to
 * `error`: ioredis writes one nobody listens to on the console. Errors and closes come for every attempt; a closed
 * connection is said once.
 */
export function watchConnection(redis: Redis, { address, observe, onReady, onGarbage }: ConnectionWatch): void {
  guardFraming(redis, onGarbage);
  let open = false;
  redis.on('ready', () => {
    open = true;
    onReady(); // first: behind sentinels it learns which node this is
    observe({ kind: 'connection', node: address(), state: 'open' });
  });
  redis.on('error', (error: Error) => {
    observe({ kind: 'connection', node: address(), state: 'failed', detail: error.message });
  });
  redis.on('close', () => {
    if (open) observe({ kind: 'connection', node: address(), state: 'closed' });
    open = false;
  });
}

/** Ends a connection now: `disconnect` alone waits for a peer that may be stopped. */
export function cut(redis: Redis): void {
  redis.disconnect();
  redis.stream?.destroy();
}
