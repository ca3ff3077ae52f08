/** `async-cache-dedupe.mjs <scene>`: pages in Redis. */
import { Redis } from 'ioredis';
import { serveDedupe } from './dedupe-app.mjs';

const scene = JSON.parse(process.argv[2] ?? '{}');
await serveDedupe(scene, { type: 'redis', options: { client: new Redis(scene.store) } });
