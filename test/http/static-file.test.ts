import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ownCoding } from '../../src/http/transport/content-coding.ts';
import { sendStatic, staticFile } from '../../src/http/transport/static-file.ts';
import { adminHarness } from './admin/harness.ts';
import { publicServer } from './harness.ts';

const INFLATE = { br: brotliDecompressSync, gzip: gunzipSync } as const;

for (const [listener, urls] of [
  ['public', ['/', '/openapi.json', '/docs/static/swagger-ui.css', 'main.mjs', 'main.css']],
  ['admin', ['/admin/openapi.json', 'main.mjs', 'main.css']],
] as const) {
  test(`the files of the ${listener} listener are sent as br or gzip to clients that accept them`, async (context) => {
    const { app } = (listener === 'public' ? publicServer(context) : adminHarness(context)).server;
    const html = (await app.inject({ url: listener === 'public' ? '/' : '/ops' })).payload;
    for (const url of urls) {
      const path = url.startsWith('/') ? url : (html.match(`"(/[^"]+/${url})"`)?.[1] ?? assert.fail(url));
      const plain = await app.inject({ url: path });
      assert.deepEqual([plain.statusCode, plain.headers['content-encoding']], [200, undefined], path);
      for (const coding of ['br', 'gzip'] as const) {
        const { headers, rawPayload } = await app.inject({ url: path, headers: { 'accept-encoding': coding } });
        assert.equal(headers['content-encoding'], coding, path);
        assert.match(String(headers['vary']), /Accept-Encoding/, path);
        assert.equal(headers['content-type'], plain.headers['content-type'], path);
        assert.ok(rawPayload.length < plain.rawPayload.length / 1.5, `${path} as ${coding}: ${rawPayload.length}`);
        assert.deepEqual(INFLATE[coding](rawPayload), plain.rawPayload, path);
      }
    }
  });
}

test('a file has a tag per coding, and a client that has it in the coding that is sent gets 304', async (context) => {
  const { server } = publicServer(context);
  const ask = (headers: Record<string, string>) => server.app.inject({ url: '/openapi.json', headers });
  const tags = await Promise.all(
    ['identity', 'gzip', 'br'].map(async (coding) =>
      String((await ask({ 'accept-encoding': coding })).headers['etag']),
    ),
  );
  const [tag = '', zipped = '', brotli = ''] = tags;
  assert.match(tag, /^"[\w-]{16}"$/);
  assert.deepEqual(tags, [tag, tag.replace(/"$/, '-gz"'), tag.replace(/"$/, '-br"')]);
  for (const held of [brotli, `W/${brotli}`, `"other", ${brotli}`, '*']) {
    const { statusCode, headers, payload } = await ask({ 'accept-encoding': 'br', 'if-none-match': held });
    assert.deepEqual([statusCode, payload, headers['etag']], [304, '', brotli], held);
  }
  for (const held of ['"other"', tag, zipped])
    assert.equal((await ask({ 'accept-encoding': 'br', 'if-none-match': held })).statusCode, 200, held);
  assert.equal((await ask({ 'accept-encoding': 'br', 'if-match': zipped })).statusCode, 412);
  assert.equal((await ask({ 'accept-encoding': 'br', 'if-match': brotli })).statusCode, 200);
});

test('HEAD has the headers of GET in the same coding', async (context) => {
  const { server } = publicServer(context);
  const headers = { 'accept-encoding': 'br' };
  const [got, head] = [
    await server.app.inject({ url: '/openapi.json', headers }),
    await server.app.inject({ method: 'HEAD', url: '/openapi.json', headers }),
  ];
  assert.deepEqual([head.statusCode, head.payload], [200, '']);
  for (const name of ['content-length', 'content-encoding', 'etag', 'vary', 'content-type']) {
    assert.equal(head.headers[name], got.headers[name], name);
  }
});

test('the client chooses a coding by weight, and on equal weights it gets the smallest', () => {
  const cases = {
    'gzip, deflate, br, zstd': 'br',
    'gzip, deflate': 'gzip',
    'br;q=0.5, gzip': 'gzip',
    'gzip;q=0, *': 'br',
    'br;q=0, gzip;q=0': 'identity',
    'identity, gzip;q=0.5': 'identity',
    '*': 'br',
    'gzip;q=0.1, *;q=0.5': 'br',
    'br;q=0, gzip;q=0.1, *;q=0.5': 'identity',
    'zstd, identity;q=0': 'identity',
    '*;q=0': 'identity',
    '': 'identity',
  };
  for (const [field, coding] of Object.entries(cases)) assert.equal(ownCoding(field), coding, field);
  assert.equal(ownCoding(undefined), 'identity');
});

test('a short file is compressed only for a client that refuses identity', async (context) => {
  const { server } = publicServer(context);
  server.app.get('/short', (request, reply) => sendStatic(request, reply, staticFile('short', 'text/plain')));
  const codingFor = async (field: string) =>
    (await server.app.inject({ url: '/short', headers: { 'accept-encoding': field } })).headers['content-encoding'];
  assert.equal(await codingFor('gzip, br'), undefined);
  assert.equal(await codingFor('gzip, *;q=0'), 'gzip');
  assert.equal(await codingFor('br, identity;q=0'), 'br');
  assert.equal(await codingFor('zstd, *;q=0'), undefined, 'the field is disregarded');
});
