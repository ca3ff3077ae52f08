import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bottleneckOf, judge } from '../../../loadtest/judge/judge.ts';
import type { ResourceUse } from '../../../loadtest/judge/resources.ts';
import { runOf } from '../../fakes/load-run.ts';

const record = runOf();
const decisive = judge(record).steps.at(-1);
assert.ok(decisive);

const core = (used: number, fullAtRps?: number) => use('a core of serpcache', used, fullAtRps);
const generator = (used: number, fullAtRps?: number): ResourceUse => ({
  ...use('processors of the generator', used, fullAtRps),
  kind: 'generator',
});

for (const [fact, uses, limiting, next, words] of [
  [
    'a full resource binds, and the resource that would be full next is named after it',
    [core(0.97), use('the busiest disk', 0.5, 8000), use('all cores of the machine', 0.4, 6000)],
    'a core of serpcache',
    'all cores of the machine',
    /^A core of serpcache is full at x5 \(3,750 searches\/s\): .* Next would be all cores/,
  ],
  [
    'when no resource is full, the one that grows fastest towards its limit will bind',
    [use('the busiest disk', 0.5, 12_345), core(0.4, 9123), use('memory', 0.6)],
    'a core of serpcache',
    'the busiest disk',
    /^Nothing is full at x5 \(3,750 searches\/s\)\. First to fill would be a core of serpcache, at about 9,100 searches\/s; next the busiest disk, at about 12,000 searches\/s\.$/,
  ],
  [
    'a full generator is reported before any other full resource',
    [core(0.99), generator(0.93)],
    'processors of the generator',
    undefined,
    /^The generator was full at x5 .* is not known\.$/,
  ],
  [
    'a generator that would be full before the service does not bind the service, and is mentioned',
    [generator(0.6, 6000), core(0.4, 9000)],
    'a core of serpcache',
    undefined,
    /The generator itself would be full at about 6,000/,
  ],
] as const)
  test(fact, () => {
    const found = bottleneckOf({ uses: [...uses], decisive }, record.samples);
    assert.equal(found.limiting?.name, limiting);
    if (next !== undefined) assert.equal(found.next?.name, next);
    assert.match(found.words, words);
  });

test('a step that broke while no resource was full stays unexplained', () => {
  const { steps } = judge(runOf({ breaksAt: 4 }));
  const broke = steps.find(({ summary }) => summary.result === 'broke');
  assert.ok(broke);
  const { limiting, words } = bottleneckOf({ uses: [use('the busiest disk', 0.5)], decisive: broke }, record.samples);
  assert.equal(limiting, undefined);
  assert.match(words, /^x4 .* broke, and nothing that was measured was full; the busiest disk came nearest/);
});

test('resources that could not be observed are listed, by kind and by part', () => {
  const staging = judge(runOf({ stack: 'none' })).bottleneck;
  assert.deepEqual(staging.unmeasured, ['memory', 'network', 'disk', 'limiter', 'generator']);
  assert.match(staging.words, /There are no figures of the stores, searchd, the machine and the generator\.$/);
  const blind = judge(runOf({ isBlind: true })).bottleneck;
  assert.equal(blind.unmeasured.length, 8);
  assert.equal(blind.limiting, undefined);
  assert.match(blind.words, /^What was full at x5 .* was not measured\. There are no figures of serpcache itself/);
  assert.deepEqual(judge(record).bottleneck.unmeasured, []);
});

function use(name: string, used: number, fullAtRps?: number): ResourceUse {
  return {
    kind: 'core',
    name,
    cause: name,
    byStep: [],
    used,
    words: `${used} of 1`,
    fullAtRps,
  };
}
