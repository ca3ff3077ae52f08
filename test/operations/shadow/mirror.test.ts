import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { etagOf } from '../../../src/cache/codec.ts';
import { compareValues, createMirror } from '../../../src/operations/shadow/mirror.ts';
import {
  comparisonOf,
  createShadowTally,
  grownBetween,
  type ShadowTally,
} from '../../../src/operations/shadow/readings.ts';
import type { ShadowEvent } from '../../../src/operations/shadow/shadow.ts';
import { createFakeClock, createVirtualTime, type VirtualTime } from '../../fakes/clock.ts';
import { createFakeOpenStore, DOMAIN, type FakeOpenStore, NEW, pageOf } from './harness.ts';

const TTL_MS = 60_000;
const STORED = { kind: 'stored' } as const;

interface Bed {
  readonly clock: VirtualTime;
  readonly candidate: FakeOpenStore;
  readonly mirror: ReturnType<typeof createMirror>;
  readonly tally: ShadowTally;
  readonly events: ShadowEvent[];
  /** Sets the delay of the event loop that the mirror sees; its bound is 100, a fifth of the maximum. */
  readonly loopIs: (delayMs: number) => void;
  readonly figures: () => ReturnType<typeof comparisonOf>;
}

function bedOf(t: TestContext, fraction = 1, reads = 1): Bed {
  const clock = createVirtualTime(t);
  const candidate = createFakeOpenStore('new:1', clock);
  const tally = createShadowTally('one');
  const events: ShadowEvent[] = [];
  let loopDelayMs = 0;
  const mirror = createMirror({
    domain: DOMAIN,
    candidate: NEW,
    store: candidate,
    primary: createFakeOpenStore('old:1', clock).content,
    fraction,
    reads,
    deadlineMs: 50,
    loopDelay: () => ({ loopDelayMs, maxLoopDelayMs: 500 }),
    tally,
    clock,
    observe: (event) => events.push(event),
  });
  mirror.begin();
  t.after(() => mirror.close());
  const figures: Bed['figures'] = () =>
    comparisonOf([
      { atMs: 1000, seconds: 1, processes: 1, grown: grownBetween(undefined, tally.reading()), servers: {} },
    ]);
  return { clock, candidate, mirror, tally, events, figures, loopIs: (ms) => (loopDelayMs = ms) };
}

/** Longer than a copy waits for its batch, and a first copy of a value for one batch more. */
const SETTLE_MS = 350;

test('a page that only the primary has is copied to the candidate, with its generation and the rest of its life', async (t) => {
  const { clock, candidate, mirror, figures } = bedOf(t);
  const page = pageOf(1, clock, { generation: 7, createdAtMs: clock.wallMs() - 1000 });
  mirror.noteRead(page.name, { kind: 'value', value: page.value }, 0.4);
  await clock.pass(SETTLE_MS);
  assert.deepEqual(candidate.value(page.name), page.value);
  mirror.noteRead(page.name, { kind: 'value', value: page.value }, 0.4);
  await clock.pass(SETTLE_MS);
  const { agreement, copying, primary, candidate: side } = figures();
  assert.deepEqual([agreement.missing, agreement.equal, copying.filled], [1, 1, 1]);
  assert.deepEqual([primary.hits, side.hits, primary.compared, side.compared], [2, 1, 2, 2]);
});

test('an older page of the candidate is replaced, and a newer one stays', async (t) => {
  const { clock, candidate, mirror, figures } = bedOf(t);
  const nowMs = clock.wallMs();
  const [old, page, newer] = [2000, 1000, 0].map((ageMs) => pageOf(1, clock, { createdAtMs: nowMs - ageMs }).value);
  const { name } = pageOf(1, clock);
  assert.ok(old !== undefined && page !== undefined && newer !== undefined);
  await candidate.write(name, old, TTL_MS);
  mirror.noteRead(name, { kind: 'value', value: page }, 0.4);
  await clock.pass(SETTLE_MS);
  assert.deepEqual(candidate.value(name), page);
  await candidate.write(name, newer, TTL_MS);
  mirror.noteRead(name, { kind: 'value', value: page }, 0.4);
  await clock.pass(SETTLE_MS);
  assert.deepEqual(candidate.value(name), newer);
  const { agreement, copying } = figures();
  assert.deepEqual([agreement.older, agreement.newer, copying.filled], [1, 1, 1]);
});

test('a write that has waited while copies paused is not sent late, and one that was made directly supersedes it', async (t) => {
  const { clock, candidate, mirror, loopIs, figures } = bedOf(t);
  const [late, superseded] = [pageOf(1, clock), pageOf(2, clock)];
  mirror.noteWrite({ ...superseded, ttlMs: TTL_MS }, STORED, false);
  clock.advance(1);
  mirror.noteWrite({ ...superseded, ttlMs: TTL_MS }, STORED, true);
  await clock.pass(SETTLE_MS);
  mirror.noteWrite({ ...late, ttlMs: TTL_MS }, STORED, false);
  loopIs(101);
  await clock.pass(1300);
  loopIs(0);
  await clock.pass(SETTLE_MS);
  assert.deepEqual(candidate.names(), []);
  assert.equal(figures().copying.dropped, 2);
});

test('a written page is written to the candidate too, and an expired one is not copied', async (t) => {
  const { clock, candidate, mirror, figures } = bedOf(t);
  const [written, expired] = [pageOf(1, clock), pageOf(2, clock, { createdAtMs: clock.wallMs() - 24 * 3_600_000 })];
  mirror.noteWrite({ ...written, ttlMs: TTL_MS }, STORED, false);
  mirror.noteRead(expired.name, { kind: 'value', value: expired.value }, 0.4);
  await clock.pass(SETTLE_MS);
  assert.deepEqual(candidate.names(), [written.name]);
  assert.deepEqual([figures().candidate.writes, figures().primary.writes], [1, 1]);
});

test('the share of sampled keys is the fraction, and a larger fraction contains the keys of a smaller one', (t) => {
  const { mirror } = bedOf(t, 0.1);
  const names = Array.from({ length: 20_000 }, (_, at) => pageNameOf(at));
  const small = new Set(names.filter(mirror.samples));
  assert.ok(Math.abs(small.size / names.length - 0.1) < 0.01, `${small.size} of ${names.length}`);
  mirror.change(0.25, 1);
  const large = new Set(names.filter(mirror.samples));
  assert.ok(Math.abs(large.size / names.length - 0.25) < 0.015, `${large.size} of ${names.length}`);
  assert.ok(small.isSubsetOf(large));
  mirror.change(1, 1);
  assert.ok(names.every(mirror.samples));
});

function pageNameOf(n: number): string {
  return pageOf(n).name;
}

test('further copies of a read come a little apart, and count neither for the hit ratio nor for the agreement', async (t) => {
  const { clock, candidate, mirror, figures } = bedOf(t, 1, 3);
  const page = pageOf(1, clock);
  await candidate.write(page.name, page.value, TTL_MS);
  // Between two batches: a copy that is due when a batch leaves goes with it.
  clock.advance(30);
  const atMs: number[] = [];
  const { read } = candidate;
  Object.assign(candidate, {
    read: (...args: Parameters<typeof read>) => {
      atMs.push(clock.monotonicMs());
      read(...args);
    },
  });
  mirror.noteRead(page.name, { kind: 'value', value: page.value }, 0.4);
  await clock.pass(2 * SETTLE_MS);
  const [first = 0] = atMs;
  assert.deepEqual(atMs, [first, first + 100, first + 200]);
  const { candidate: side, agreement } = figures();
  assert.deepEqual([side.reads, side.compared, side.hits, agreement.compared], [3, 1, 1, 1]);
});

test('a candidate that hangs holds a bounded number of copies, and the rest are dropped and counted', async (t) => {
  const { candidate, mirror, figures } = bedOf(t);
  candidate.meet({ kind: 'slow', replyAfterMs: 60_000 });
  for (let n = 0; n < 12_000; n += 1) mirror.noteRead(pageNameOf(n), { kind: 'absent' }, 0.4);
  const { copying, primary } = figures();
  assert.deepEqual([copying.sampled, copying.dropped, primary.compared], [12_000, 2000, 10_000]);
});

test('no more copies are sent than may be unanswered', async (t) => {
  const { clock, candidate, mirror } = bedOf(t);
  const sent: string[] = [];
  Object.assign(candidate, { read: (name: string) => void sent.push(name) });
  for (let n = 0; n < 600; n += 1) mirror.noteRead(pageNameOf(n), { kind: 'absent' }, 0.4);
  await clock.pass(2 * SETTLE_MS);
  assert.equal(sent.length, 256);
});

test('copies hold a bounded number of bytes', (t) => {
  const { mirror, figures } = bedOf(t);
  const value = Buffer.alloc(2 ** 20);
  for (let n = 0; n < 40; n += 1) mirror.noteWrite({ name: pageNameOf(n), value, ttlMs: TTL_MS }, STORED, false);
  assert.equal(figures().copying.dropped, 8);
});

test('while the event loop is late nothing is copied, the queue waits, and both are counted', async (t) => {
  const { clock, candidate, mirror, loopIs, figures } = bedOf(t);
  const [before, during] = [pageOf(1, clock), pageOf(2, clock)];
  mirror.noteWrite({ ...before, ttlMs: TTL_MS }, STORED, false);
  loopIs(101);
  mirror.noteWrite({ ...during, ttlMs: TTL_MS }, STORED, false);
  await clock.pass(SETTLE_MS);
  assert.deepEqual([mirror.isPaused(), candidate.names(), figures().copying.paused], [true, [], 1]);
  loopIs(0);
  await clock.pass(SETTLE_MS);
  assert.deepEqual(candidate.names(), [before.name]);
});

test('a closed mirror sends nothing any more', async (t) => {
  const { clock, candidate, mirror } = bedOf(t);
  mirror.noteWrite({ ...pageOf(1, clock), ttlMs: TTL_MS }, STORED, false);
  mirror.close();
  mirror.noteWrite({ ...pageOf(2, clock), ttlMs: TTL_MS }, STORED, false);
  await clock.pass(SETTLE_MS);
  assert.deepEqual(candidate.names(), []);
});

test('errors of each side are counted by kind, and are not compared', async (t) => {
  const { clock, candidate, mirror, figures } = bedOf(t);
  const page = pageOf(1, clock);
  candidate.meet({ kind: 'fault', fault: 'node-open' });
  mirror.noteRead(page.name, { kind: 'value', value: page.value }, 0.4);
  mirror.noteRead(pageOf(2, clock).name, { kind: 'fault', fault: 'store-slow' }, 50);
  await clock.pass(SETTLE_MS);
  const { primary, candidate: side, agreement } = figures();
  assert.deepEqual([primary.errors['store-slow'], side.errors['node-open'], agreement.compared], [1, 2, 0]);
});

test('values are compared by content: equal, older, newer, wrong, or on one side only', () => {
  const clock = createFakeClock();
  const options = { domain: DOMAIN, clock };
  const nowMs = clock.wallMs();
  const page = pageOf(1, clock, { createdAtMs: nowMs - 1000, generation: 5 });
  const compare = (candidate: Buffer | undefined, primary: Buffer | undefined = page.value): string =>
    compareValues(page.name, primary, candidate, options);
  const variant = (parts: Parameters<typeof pageOf>[2]): Buffer =>
    pageOf(1, clock, { createdAtMs: nowMs - 1000, generation: 5, ...parts }).value;
  const flipped = Buffer.from(page.value);
  flipped.writeUInt8(flipped.readUInt8(flipped.length - 3) ^ 1, flipped.length - 3);

  assert.equal(compare(Buffer.from(page.value)), 'equal');
  assert.equal(compare(variant({ costMs: 99 })), 'equal', 'the same page, although its bytes differ');
  const etag = etagOf(Buffer.from('{"query":"1"}'));
  assert.equal(compare(variant({ body: Buffer.from('{"query":"2"}'), etag })), 'wrong', 'another page under this etag');
  assert.equal(compare(variant({ createdAtMs: nowMs - 2000 })), 'older');
  assert.equal(compare(variant({ createdAtMs: nowMs })), 'newer');
  assert.equal(compare(variant({ generation: 4 })), 'older');
  assert.equal(compare(variant({ generation: 6, createdAtMs: nowMs - 2000 })), 'newer', 'generations count first');
  assert.equal(compare(variant({ body: Buffer.from('{"query":"1","results":[1]}') })), 'wrong');
  assert.equal(compare(flipped), 'wrong', 'one bit');
  assert.equal(compare(pageOf(2, clock).value), 'wrong', 'the page of another search');
  assert.equal(compare(Buffer.from('no entry')), 'wrong');
  assert.equal(compare(Buffer.alloc(0)), 'wrong');
  assert.equal(compare(undefined), 'missing');
  assert.equal(compareValues(page.name, undefined, page.value, options), 'surplus');
  assert.equal(compareValues(page.name, undefined, flipped, options), 'wrong', 'also where the primary has none');
  assert.equal(compareValues(page.name, undefined, undefined, options), 'equal');
});

test('keys of wrong values are shown, each once and at most twenty', async (t) => {
  const { clock, candidate, mirror, tally } = bedOf(t);
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 25; n += 1) {
      const { name, value } = pageOf(n, clock);
      await candidate.write(name, Buffer.from('wrong'), TTL_MS);
      mirror.noteRead(name, { kind: 'value', value }, 0.4);
    }
    await clock.pass(SETTLE_MS);
  }
  const { wrongKeys, agreement } = tally.reading();
  assert.deepEqual([wrongKeys.length, new Set(wrongKeys).size, agreement.wrong], [20, 20, 50]);
});
