import { buildIndex } from '../../../src/engines/sqlite/build.ts';
import { DOMAIN } from './harness.ts';

/** A program that builds the index named on its command line without end, and prints a line once it has begun. */
const [, , file = ''] = process.argv;

await buildIndex({
  file,
  domain: DOMAIN,
  documents: (function* () {
    for (let n = 0; ; n += 1) yield { id: `n${n}`, title: `товар ${n}`, description: '', attributes: {} };
  })(),
  builtAtMs: 0,
  onProgress: (documents) => {
    if (documents === 2000) process.stdout.write('under way\n');
  },
});
