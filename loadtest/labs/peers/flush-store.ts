import { Redis } from 'ioredis';
import type { PeerScene } from './peer.ts';

/** Empties a store that holds nothing but pages, as one does by hand. */
export async function flushStore({ host, port }: PeerScene['store']): Promise<void> {
  const redis = new Redis({ host, port, lazyConnect: true, maxRetriesPerRequest: 1 });
  try {
    await redis.connect();
    await redis.flushdb();
  } finally {
    redis.disconnect();
  }
}
