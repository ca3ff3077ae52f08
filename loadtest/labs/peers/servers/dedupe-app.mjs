import { createCache } from 'async-cache-dedupe';
import { fetchPage } from './origin-page.mjs';
import { serveSearch } from './search-app.mjs';

/**
 * @param {{ port: number, origin: string, ttlSeconds: number, staleSeconds: number }} setup
 * @param {import('async-cache-dedupe').StorageInputRedis | import('async-cache-dedupe').StorageInputMemory} storage
 */
export async function serveDedupe({ port, origin, ttlSeconds, staleSeconds }, storage) {
  const cache = createCache({ ttl: ttlSeconds, stale: staleSeconds, storage });
  const pages = cache.define('page', (/** @type {string} */ url) => fetchPage(origin + url));
  await serveSearch({ port, page: (url) => pages.page(url), purge: () => cache.clear() });
}
