/** `async-cache-dedupe.mjs <setup>`: pages in Redis. */
import { Redis } from 'ioredis';
import { serveDedupe } from './dedupe-app.mjs';

const setup = JSON.parse(process.argv[2] ?? '{}');
await serveDedupe(setup, { type: 'redis', options: { client: new Redis(setup.store) } });
