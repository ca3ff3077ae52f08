/** `async-cache-dedupe-memory.mjs <setup>`: pages in this process. */
import { serveDedupe } from './dedupe-app.mjs';

await serveDedupe(JSON.parse(process.argv[2] ?? '{}'), { type: 'memory', options: { size: 100_000 } });
