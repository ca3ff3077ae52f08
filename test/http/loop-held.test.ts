import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Turns } from './loop-server.ts';

/** Maximum processor time of one turn for a request within the limits, in runs of the reference work. Measured: at most 3.5; without the limits 540. */
const MOST = 12;
/** The minimum of a few runs: a run may include a garbage collection or a compilation. */
const TRIES = 4;

const KIB = 1024;
/** The largest size that may be configured. */
const MAX_BODY = 1024 * KIB;
const marks = (count: number): string =>
  Array.from({ length: count }, (_, i) => '\u0323\u0301\u0334\u0345'[i % 4]).join('');
const fill = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / Buffer.byteLength(text)));
const query = (...pairs: readonly (readonly [string, string])[]): string =>
  new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString();

/** Nearly the whole content of a URL of 16 KiB. */
const ROOM = 15 * KIB;
const QUERIES: Readonly<Record<string, string>> = {
  'marks in q': `q=a${fill('%CC%A3%CC%81', ROOM)}`,
  '256 marks in q': query(['q', `a${marks(255)}`]),
  'letters that grow in q': query(['q', 'ﷺ'.repeat(256)]),
  'marks in a filter': `q=a&filter=a1:${fill('%CC%A3%CC%81', ROOM)}`,
  'marks in many filters': query(...Array.from({ length: 12 }, (_, i) => ['filter', `a${i}:a${marks(180)}`] as const), [
    'q',
    'a',
  ]),
  'letters that grow in many filters': query(
    ['q', 'a'],
    ...Array.from({ length: 16 }, (_, i) => ['filter', `a${i}:${'ﷺ'.repeat(90)}`] as const),
  ),
  'commas in a filter': `q=a&filter=a1:${fill('a,', ROOM)}`,
  'values in all filters':
    `q=a&${Array.from({ length: 16 }, (_, i) => `filter=a${i}:${Array.from({ length: 32 }, (_, j) => `${'v'.repeat(24)}${j}`).join(',')}`).join('&')}`.slice(
      0,
      16_000,
    ),
  'backslashes in a filter': `q=a&filter=a1:${fill('\\', ROOM)}`,
  'one number of many digits': `q=a&filter=price:${fill('9', ROOM)}`,
  'sixty filters': `q=a&${fill('filter=a1:xxxx&', ROOM).slice(0, 900)}`,
  'bounds on the page': `q=a&${Array.from({ length: 30 }, () => `price.from=${'1'.repeat(200)}&price.to=${'1'.repeat(200)}`).join('&')}`,
  'facet names': `q=a&${Array.from({ length: 60 }, () => `facet=${'a'.repeat(240)}`).join('&')}`,
  'all facets': `q=a&${Array.from({ length: 20 }, (_, i) => `facet=a${i}`).join('&')}`,
  'duplicated parameters': `q=a&${fill('q=b&', ROOM)}`,
  'parameters without names': `q=a&${fill('&', ROOM)}`,
  'percent-encoding': `q=${fill('%25', ROOM)}`,
  'percent-encoded nonsense': `q=${fill('%F0%9F%98%80', ROOM)}&%%%`,
  'white space': `q=${fill('+', ROOM)}`,
  'a deep page': 'q=deep&page=10&limit=100',
  'a bad sort': `q=a&sort=${fill('x', ROOM)}`,
};

const item = (size: number, i: number): object => ({
  q: `a${i}${marks(250)}`,
  filter: Array.from(
    { length: Math.ceil(size / 8000) },
    (_, j) => `a${j}:${Array.from({ length: 31 }, (_, k) => `${i}${k}${marks(250)}`).join(',')}`,
  ),
  limit: 100,
});
const BODIES: Readonly<Record<string, (bytes: number) => string>> = {
  'marks in q': () => JSON.stringify({ searches: [{ q: `a${marks(60 * KIB)}` }] }),
  'marks in a filter': () => JSON.stringify({ searches: [{ q: 'a', filter: `a1:a${marks(60 * KIB)}` }] }),
  'fifty costly items': () => JSON.stringify({ searches: Array.from({ length: 50 }, (_, i) => item(8000, i)) }),
  'fifty items that grow': () =>
    JSON.stringify({ searches: Array.from({ length: 50 }, (_, i) => ({ q: `${i}${'ﷺ'.repeat(250)}`, limit: 100 })) }),
  'fifty deep pages': () =>
    JSON.stringify({ searches: Array.from({ length: 50 }, (_, i) => ({ q: `deep ${i}`, page: 10, limit: 100 })) }),
  'the same fifty pages again': () =>
    JSON.stringify({ searches: Array.from({ length: 50 }, () => ({ q: 'deep 1', page: 10, limit: 100 })) }),
  'too many items': (bytes) => `{"searches":[${fill('{},', bytes - 30)}{}]}`,
  'nested arrays': (bytes) => `{"searches":${'['.repeat(bytes / 2 - 20)}${']'.repeat(bytes / 2 - 20)}}`,
  'an item of nested arrays': (bytes) =>
    `{"searches":[{"q":${'['.repeat(bytes / 2 - 20)}${']'.repeat(bytes / 2 - 20)}}]}`,
  'many members': (bytes) =>
    `{"searches":[{${Array.from({ length: Math.floor(bytes / 16) }, (_, i) => `"k${i}":1`).join(',')}}]}`,
  'many members outside': (bytes) =>
    `{${Array.from({ length: Math.floor(bytes / 16) }, (_, i) => `"k${i}":1`).join(',')}}`,
  'one long member name': (bytes) => `{"searches":[{"${fill('k', bytes - 40)}":1}]}`,
  'one long string': (bytes) => `{"searches":[{"q":"${fill('a', bytes - 40)}"}]}`,
  'one long string of marks': (bytes) => `{"searches":[{"q":"${fill('\u0323\u0301', bytes - 40)}"}]}`,
  'one long filter': (bytes) => `{"searches":[{"q":"a","filter":"a1:${fill('a,', bytes - 60)}"}]}`,
  escapes: (bytes) => `{"searches":[{"q":"${fill('\\u0301', bytes - 40)}"}]}`,
  'escaped quotes': (bytes) => `{"searches":[{"q":"${fill('\\"', bytes - 40)}"}]}`,
  'a huge number': (bytes) => `{"searches":[{"q":${fill('9', bytes - 40)}}]}`,
  'many numbers': (bytes) => `{"searches":[{"q":"a","filter":[${fill('1e99,', bytes - 60)}1]}]}`,
  'as many numbers as a body may have': () => `{"searches":[{"q":"a","filter":[${'1e99,'.repeat(9990)}1]}]}`,
  'as many members as a body may have': () =>
    `{"searches":[{${Array.from({ length: 9990 }, (_, i) => `"k${i}":1`).join(',')}}]}`,
  'as deep as a body may be': () => `{"searches":${'['.repeat(9990)}${']'.repeat(9990)}}`,
  'white space': (bytes) => `{"searches":[{"q":"a"}${fill(' ', bytes - 40)}]}`,
  'no JSON': (bytes) => fill('{"a":', bytes),
};

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'accept-encoding': fill('a,', ROOM) },
  { 'if-none-match': fill('"a",', ROOM) },
  { 'accept-language': fill('a;q=0.1,', ROOM) },
  { 'cache-control': fill('no-cache,', ROOM) },
];

interface RequestParts {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

describe('no request within the limits holds the event loop for longer than a few milliseconds of work', () => {
  let worker: Worker;
  let url = '';
  before(async () => {
    worker = new Worker(new URL('./loop-server.ts', import.meta.url));
    [url] = await once(worker, 'message');
  });
  after(() => worker.terminate());

  const turns = async (): Promise<Turns> => {
    worker.postMessage('turns');
    const [answer] = await once(worker, 'message');
    return answer;
  };

  const send = (path: string, { body, headers }: RequestParts): Promise<void> =>
    new Promise((resolve) => {
      const json = body === undefined ? {} : { 'content-type': 'application/json' };
      const method = body === undefined ? 'GET' : 'POST';
      // The connection of a refused body may be cut before the body is sent: the request is over in either case.
      request(url + path, { method, agent: false, headers: { ...json, ...headers } }, (response) => {
        response.resume().on('close', resolve);
      })
        .on('error', () => resolve())
        .end(body);
    });

  const holds = async (what: string, path: string, asked: RequestParts = {}): Promise<void> => {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < TRIES && least > MOST / 2; i += 1) {
      await turns();
      await send(path, asked);
      const { longestMs, referenceMs } = await turns();
      least = Math.min(least, longestMs / referenceMs);
    }
    assert.ok(least < MOST, `${path.slice(0, 40)}, ${what}: ${least.toFixed(1)} times the reference work`);
  };

  test('a URL with any content, on each route that reads it', async () => {
    for (const [what, text] of Object.entries(QUERIES)) {
      for (const route of ['/search', '/']) await holds(what, `${route}?${text}`);
    }
  });

  test('a URL on a route that does not read it', async () => {
    for (const route of ['/readyz', '/docs/', '/nothing']) await holds('marks', `${route}?${QUERIES['marks in q']}`);
  });

  test('a body with any content', async () => {
    for (const [what, bodyOf] of Object.entries(BODIES))
      await holds(what, '/msearch', { body: bodyOf(MAX_BODY - KIB) });
  });

  test('a body larger than the largest limit', async () => {
    await holds('nested arrays', '/msearch', { body: '['.repeat(4 * 2 ** 20) });
  });

  test('header fields with any content', async () => {
    for (const headers of HEADERS) {
      for (const route of ['/search', '/']) await holds(Object.keys(headers).join(), `${route}?q=a`, { headers });
    }
  });
});
