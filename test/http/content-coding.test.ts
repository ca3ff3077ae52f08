import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { CODINGS } from '../../src/cache/codec.ts';
import type { Coding } from '../../src/cache/entry.ts';
import { createPageBodies, TAG_SUFFIX } from '../../src/http/transport/content-coding.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { publicServer } from './harness.ts';

/** The coding of a page that is stored plain, as small ones are, compressed with gzip, and with zstd. */
type Sent = readonly [plain: Coding, gzip: Coding, zstd: Coding];

/** RFC 9110 §12.5.3, rule by rule. */
const cases: readonly (readonly [field: string | undefined, sent: Sent, why: string])[] = [
  [undefined, ['identity', 'identity', 'identity'], 'a client that names no coding gets plain bytes'],
  ['', ['identity', 'identity', 'identity'], 'an empty field asks for no coding'],
  ['gzip, deflate, br, zstd', ['identity', 'gzip', 'zstd'], 'a browser takes the stored coding'],
  ['GZIP', ['identity', 'gzip', 'identity'], 'codings are case-insensitive'],
  ['x-gzip', ['identity', 'gzip', 'identity'], 'x-gzip is gzip'],
  ['br', ['identity', 'identity', 'identity'], 'identity needs no naming'],
  ['gzip;q=0', ['identity', 'identity', 'identity'], 'weight zero forbids'],
  ['gzip;q=0.000, *', ['identity', 'identity', 'zstd'], 'a name outweighs the star'],
  ['*', ['identity', 'gzip', 'zstd'], 'the star takes any'],
  ['*;q=0.5, gzip;q=0.1', ['identity', 'identity', 'zstd'], 'the star weighs identity too'],
  ['gzip;q=0.5, identity', ['identity', 'identity', 'identity'], 'the heavier one wins'],
  ['gzip;q=0.5, identity;q=0.5', ['identity', 'gzip', 'identity'], 'on a tie, the one that costs nothing'],
  ['gzip;q=0.001', ['identity', 'gzip', 'identity'], 'a named coding is preferred to identity'],
  ['gzip; q=0.1 , identity;q=0', ['gzip', 'gzip', 'gzip'], 'the only one left is made'],
  ['gzip, *;q=0', ['gzip', 'gzip', 'gzip'], 'the star refuses identity'],
  ['zstd;q=0.1, gzip;q=0.2, *;q=0', ['gzip', 'gzip', 'zstd'], 'of those that can be made, the heavier one'],
  ['zstd, identity;q=0', ['zstd', 'zstd', 'zstd'], 'the only one left is made'],
  ['identity;q=0, *;q=0.1', ['gzip', 'gzip', 'zstd'], 'the star takes what is made'],
  ['*;q=0, identity;q=0.1', ['identity', 'identity', 'identity'], 'identity by its name'],
  ['identity;q=0', ['identity', 'identity', 'identity'], 'nothing is left: the field is disregarded'],
  ['*;q=0', ['identity', 'identity', 'identity'], 'everything is forbidden: the field is disregarded'],
  ['gzip;q=0, *;q=0', ['identity', 'identity', 'identity'], 'the same'],
  ['br, identity;q=0', ['identity', 'identity', 'identity'], 'only what is not made: the field is disregarded'],
  ['compress, pack200-gzip, *;q=0', ['identity', 'identity', 'identity'], 'only unknown codings'],
  ['gzip;q=7', ['identity', 'identity', 'identity'], 'a weight that cannot be read counts as not given'],
  ['gzip;q=abc, zstd', ['identity', 'identity', 'zstd'], 'a broken item does not spoil its neighbours'],
];

const decoded: Readonly<Record<Coding, (body: Buffer) => Buffer>> = {
  identity: (body) => body,
  gzip: (body) => gunzipSync(body),
  zstd: (body) => zstdDecompressSync(body),
};

for (const [at, stored] of CODINGS.entries()) {
  test(`a page that is stored as ${stored} is sent in a coding that the client accepts, and is never refused`, async (context) => {
    const { server, search } = publicServer(context, { clock: createFakeClock(), fake: { coding: stored } });
    const url = '/search?q=lamp';
    const plain = (await server.app.inject({ url })).rawPayload;
    const [entry] = search.memory.values();
    for (const [field, sent, why] of cases) {
      const coding = sent[at] ?? 'identity';
      const note = `${JSON.stringify(field)}: ${coding}, ${why}`;
      const headers = field === undefined ? {} : { 'accept-encoding': field };
      // Twice: made first, then from the cache.
      for (const _ of [1, 2]) {
        const got = await server.app.inject({ url, headers });
        assert.equal(got.statusCode, 200, note);
        assert.equal(got.headers['content-encoding'], coding === 'identity' ? undefined : coding, note);
        assert.deepEqual(decoded[coding](got.rawPayload), plain, note);
        assert.equal(got.headers['etag'], `"${entry?.etag}${TAG_SUFFIX[coding]}"`, note);
        assert.equal(got.headers['vary'], 'Accept-Encoding', note);
        const head = await server.app.inject({ method: 'HEAD', url, headers });
        assert.deepEqual([head.statusCode, head.rawPayload.length], [200, 0], note);
        for (const name of ['content-encoding', 'content-length', 'etag', 'vary', 'content-type'])
          assert.equal(head.headers[name], got.headers[name], `${name}, ${note}`);
        const known = await server.app.inject({
          url,
          headers: { ...headers, 'if-none-match': String(got.headers['etag']) },
        });
        assert.deepEqual([known.statusCode, known.headers['etag']], [304, got.headers['etag']], note);
      }
    }
  });
}

test('a body in another coding is made once for an entry, also for many clients at once', async () => {
  const bodies = createPageBodies({ maxBytes: 2 ** 20, maxPageBytes: 2 ** 20 });
  const clock = createFakeClock();
  for (const size of [100, 200_000]) {
    const entry = entryOf(clock, { body: Buffer.alloc(size, 'a'), coding: 'identity' });
    const [first, second] = await Promise.all([bodies.of(entry, 'gzip'), bodies.of(entry, 'gzip')]);
    assert.equal(gunzipSync(first).length, size);
    assert.ok(first === second && first === (await bodies.of(entry, 'gzip')), `one buffer for ${size} bytes`);
  }
});
