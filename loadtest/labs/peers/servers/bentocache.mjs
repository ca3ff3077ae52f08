/** `bentocache.mjs <setup>` */
import { BentoCache, bentostore } from 'bentocache';
import { memoryDriver } from 'bentocache/drivers/memory';
import { redisBusDriver, redisDriver } from 'bentocache/drivers/redis';
import { fetchPage } from './origin-page.mjs';
import { serveSearch } from './search-app.mjs';

const { port, origin, store, ttlSeconds, staleSeconds } = JSON.parse(process.argv[2] ?? '{}');
const pages = new BentoCache({
  default: 'pages',
  ttl: ttlSeconds * 1000,
  // Counted from when the page was made, as its time to live is.
  grace: (ttlSeconds + staleSeconds) * 1000,
  hardTimeout: '10s',
  stores: {
    pages: bentostore()
      // Its faster `serialize: false` cannot be had with a second tier: what comes from there is put into L1 as a text,
      // and reading it again throws (its issue 111, open with 1.6.1).
      .useL1Layer(memoryDriver({ maxItems: 100_000, maxSize: '512mb' }))
      .useL2Layer(redisDriver({ connection: store }))
      .useBus(redisBusDriver({ connection: store })),
  },
});

await serveSearch({
  port,
  page: (url) => pages.getOrSet({ key: url, factory: () => fetchPage(origin + url) }),
  purge: () => pages.clear(),
});
