import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SearchError } from '../../src/resilience/search-error.ts';
import { faultOf, formatTraceparent, parseTraceparent, untilSettled } from '../../src/search/trace.ts';
import { createTraceRecorder, type RecordedSpan } from '../../src/search/trace-recorder.ts';
import { idle } from '../fakes/idle.ts';
import { type Harness, harness, held } from './harness.ts';

/** Runs one search and gives its spans, each with the names of those above it. */
async function traced({ search, clock }: Pick<Harness, 'search' | 'clock'>, prepared: ReturnType<Harness['prepare']>) {
  const recorder = createTraceRecorder({ clock, random: Math.random });
  const span = recorder.begin();
  await search.search(prepared, { span }).catch(() => undefined);
  span.end();
  return recorder.spans();
}

function outline(spans: readonly RecordedSpan[]): string[] {
  return spans.map(({ stage, depth, facts, error }) =>
    [`${'>'.repeat(depth)}${stage}`, facts['serpcache.result'], facts['serpcache.reason'], error]
      .filter((part) => part !== undefined)
      .join(' '),
  );
}

test('a miss has a span for every stage, each under the one that began it', async (t) => {
  const own = harness(t);
  assert.deepEqual(outline(await traced(own, own.prepare('диван'))), [
    'search',
    '>l1 missed unseen',
    '>l2 missed unseen',
    '>load',
    '>>permit',
    '>>lease mine',
    '>>engine whole',
  ]);
});

test('a hit of L1 and a hit of L2 have the span of their tier, with the bytes it found', async (t) => {
  const own = harness(t);
  await own.search.search(own.prepare('диван'));
  const [, near] = await traced(own, own.prepare('диван'));
  assert.equal(near?.facts['serpcache.result'], 'fresh');
  assert.ok(Number(near?.facts['serpcache.bytes']) > 0);
  const far = await traced({ search: own.sibling(), clock: own.clock }, own.prepare('диван'));
  assert.deepEqual(outline(far), ['search', '>l1 missed unseen', '>l2 fresh']);
  assert.equal(far[2]?.facts['serpcache.node'], own.store.locate(own.prepare('диван').storeName).node);
});

test('a search that joins the load of another one links to it and has no engine call of its own', async (t) => {
  const own = harness(t);
  const release = held(own);
  const first = traced(own, own.prepare('диван'));
  await idle();
  const second = traced(own, own.prepare('диван'));
  await idle();
  release();
  assert.equal((await first).filter(({ stage }) => stage === 'engine').length, 1);
  const spans = await second;
  assert.equal(spans.filter(({ stage }) => stage === 'engine').length, 0);
  assert.equal(spans.find(({ stage }) => stage === 'load')?.isShared, true);
});

test('a failed stage names the code of its error, and never the text of the engine', async (t) => {
  const own = harness(t);
  own.engine.answer = () => Promise.reject(new Error('near "secret words"'));
  const spans = await traced(own, own.prepare('диван'));
  assert.ok(spans.some(({ error }) => error !== undefined));
  assert.doesNotMatch(JSON.stringify(spans), /secret/);
  assert.equal(faultOf(new SearchError('engine-deadline')), 'engine-deadline');
  assert.equal(faultOf('a text'), 'unknown');
});

test('every search of a batch has its spans under the batch', async (t) => {
  const own = harness(t);
  const recorder = createTraceRecorder({ clock: own.clock, random: Math.random });
  const span = recorder.begin();
  await own.search.searchMany([own.prepare('a'), own.prepare('b')], { span });
  const stages = recorder.spans().map(({ stage }) => stage);
  assert.deepEqual(
    [stages.filter((one) => one === 'l2').length, stages.filter((one) => one === 'engine').length],
    [1, 2],
  );
  assert.equal(recorder.spans().find(({ stage }) => stage === 'l2')?.facts['serpcache.keys'], 2);
});

test('a refresh in the background is a trace of its own', async (t) => {
  const own = harness(t, { tracer: true });
  await own.search.search(own.prepare('диван'));
  own.clock.advance(110_000);
  assert.equal((await own.search.search(own.prepare('диван'))).outcome, 'stale');
  await idle();
  assert.deepEqual(own.roots, ['refresh']);
});

test('a refresh that another process makes, and a wait that nobody needs any more, are no errors', async () => {
  const ends: unknown[] = [];
  const span = {
    traceId: '',
    spanId: '',
    begin: () => span,
    link: () => {},
    end: (...end: unknown[]) => void ends.push(end),
  };
  for (const error of [new SearchError('leased'), new SearchError('left'), new SearchError('queue-full')])
    await assert.rejects(untilSettled(span, Promise.reject(error)));
  assert.deepEqual(ends, [
    [{ 'serpcache.result': 'leased' }],
    [{ 'serpcache.result': 'left' }],
    [undefined, 'queue-full'],
  ]);
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('a traceparent is read with its flag, in this version and in later ones', () => {
  for (const [field, sampled] of [
    [`00-${traceId}-${spanId}-01`, true],
    [`00-${traceId}-${spanId}-00`, false],
    [`00-${traceId}-${spanId}-03`, true],
    [`00-${traceId}-${spanId}-fe`, false],
    [`01-${traceId}-${spanId}-01-of a later version`, true],
    [`cc-${traceId}-${spanId}-01`, true],
  ] as const) {
    assert.deepEqual(parseTraceparent(field), { traceId, spanId, sampled }, field);
  }
});

test('a traceparent that is not valid counts as none', () => {
  for (const field of [
    undefined,
    '',
    [`00-${traceId}-${spanId}-01`],
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-`,
    `00-${traceId}-${spanId}-1`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    ` 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `01-${traceId}-${spanId}-01-${'x'.repeat(500)}`,
  ]) {
    assert.equal(parseTraceparent(field), undefined, String(field));
  }
});

test('a traceparent that is sent along reads as the span that sends it', () => {
  assert.deepEqual(parseTraceparent(formatTraceparent({ traceId, spanId })), { traceId, spanId, sampled: true });
});
