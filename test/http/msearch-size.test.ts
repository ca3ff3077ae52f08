import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { publicServer } from './harness.ts';

const MAX_PAGE_BYTES = 10_000;

test('of pages that are too large together those that fit are answered, and the others say how they can be had', async (context) => {
  const clock = createFakeClock();
  const { server, search, events } = publicServer(context, { clock, maxPageBytes: MAX_PAGE_BYTES });
  const page = JSON.stringify({ query: 'x', padding: ' '.repeat(MAX_PAGE_BYTES - 100) });
  search.answer = async (prepared) =>
    search.computed(prepared, {
      entry: entryOf(clock, { canonical: prepared.canonical, coding: 'gzip', body: gzipSync(page) }),
    });
  const searches = Array.from({ length: 50 }, (_, index) => ({ q: `${index}` }));
  const answer = await server.app.inject({ method: 'POST', url: '/msearch', payload: { searches } });
  assert.equal(answer.statusCode, 200);
  const { results } = answer.json();
  const refused = results.filter(({ status }: { status: number }) => status !== 200);
  assert.equal(results.length, 50);
  assert.equal(refused.length, 48, 'two of the largest pages, however many are asked for');
  assert.equal(refused[0].problem.code, 'busy');
  assert.match(refused[0].problem.detail, /in a request of its own/);
  assert.ok(answer.rawPayload.length < 4 * MAX_PAGE_BYTES + 50 * 1000, `${answer.rawPayload.length} bytes`);
  assert.equal(events.filter(({ outcome }) => outcome === 'shed').length, 48);
  const single = await server.app.inject({ url: '/search?q=49' });
  assert.equal(single.statusCode, 200);
});
