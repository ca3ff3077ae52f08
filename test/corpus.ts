import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const DATA = new URL('../../shared/data/', import.meta.url);

/** Lines of one of the real files that lie beside the project. @throws saying so when it is not there */
export function corpusLines(name: string): readonly string[] {
  let packed: Buffer;
  try {
    packed = readFileSync(new URL(name, DATA));
  } catch (cause) {
    throw new Error(`this test reads ../shared/data/${name}, beside the project, and it is not there`, { cause });
  }
  return gunzipSync(packed).toString('utf8').trimEnd().split('\n');
}
