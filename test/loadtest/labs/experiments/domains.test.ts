import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DomainRow, domainsLesson, gainOf } from '../../../../loadtest/labs/experiments/domains/lesson.ts';
import { domainTable, publishedUs } from '../../../../loadtest/labs/experiments/domains/tables.ts';
import { figuresOf, limitOfStores } from '../../../../loadtest/labs/experiments/one-and-three.ts';

const TWO = { store: '0', generator: '1', storeCount: 1, generatorCount: 1 };
const EIGHT = { store: '0-3', generator: '4-7', storeCount: 4, generatorCount: 4 };

test('the saving of one store per domain is the share of the time that a single store took more', () => {
  const rows = [row({ usPerOp: 8.36 }), row({ shape: 'one store each', usPerOp: 5.54 })];
  assert.equal(gainOf(rows, row({ shape: 'one store each' }))?.toFixed(2), '0.34');
});

test('one store is not compared with itself, nor loopback with a network', () => {
  const rows = [row({}), row({ shape: 'one store each', isFar: true })];
  assert.equal(gainOf(rows, row({})), undefined);
  assert.equal(gainOf(rows, row({ shape: 'one store each', isFar: true })), undefined);
});

test('the lesson holds when INCR has the published gain and almost none over a network', () => {
  const { holds, sentence } = domainsLesson(rowsOf({ light: 5.54, heavy: 12, far: 660 }), cores(EIGHT));
  assert.equal(holds, 'yes');
  assert.match(sentence, /−33\.7\s%/);
  assert.doesNotMatch(sentence, /cannot show/);
});

test('a gain that a network does not reduce makes the lesson hold in part', () => {
  assert.equal(domainsLesson(rowsOf({ light: 5.54, heavy: 12, far: 400 }), cores(EIGHT)).holds, 'partly');
});

test('a gain that exists only where stores and clients share all cores makes it hold in part, with both figures', () => {
  const anywhere = [
    row({ isAnywhere: true }),
    row({ isAnywhere: true, shape: 'one store each', usPerOp: 5.54 }),
    row({ isAnywhere: true, weight: 'heavy', usPerOp: 20 }),
    row({ isAnywhere: true, weight: 'heavy', shape: 'one store each', usPerOp: 12 }),
  ];
  const { holds, sentence } = domainsLesson(
    [...rowsOf({ light: 8.3, heavy: 22, far: 666 }), ...anywhere],
    cores(EIGHT),
  );
  assert.equal(holds, 'partly');
  assert.match(
    sentence,
    /−0\.7\d*.% for INCR and \+10.% for pages where stores .* own cores, by −33\.7.% and −40.% where/,
  );
  const both = domainsLesson([...rowsOf({ light: 5.54, heavy: 12, far: 660 }), ...anywhere], cores(EIGHT));
  assert.equal(both.holds, 'yes');
});

test('a loss over a network is not described as a smaller gain', () => {
  const { holds, sentence } = domainsLesson(rowsOf({ light: 5.54, heavy: 12, far: 780 }), cores(EIGHT));
  assert.equal(holds, 'partly');
  assert.match(sentence, /over a network INCR takes longer with a store each \(\+16\.9.%\), a loss/);
  assert.doesNotMatch(sentence, /is left/);
  const nothing = domainsLesson(rowsOf({ light: 5.54, heavy: 12, far: 670 }), cores(EIGHT));
  assert.equal(nothing.holds, 'yes');
  assert.match(nothing.sentence, /nothing of it is left for INCR \(\+0\.4/);
});

test('a gain has shrunk when less than half of it is left', () => {
  const far = (gain: number) => domainsLesson(rowsOf({ light: 5.54, heavy: 12, far: 667 * (1 - gain) }), cores(EIGHT));
  assert.equal(far(0.15).holds, 'yes');
  const more = far(0.19);
  assert.equal(more.holds, 'partly');
  assert.match(more.sentence, /is not the shrinking that was published/);
});

test('a loss of a twentieth is ignored; more is a loss', () => {
  const far = (loss: number) => domainsLesson(rowsOf({ light: 5.54, heavy: 12, far: 667 * (1 + loss) }), cores(EIGHT));
  assert.equal(far(0.045).holds, 'yes');
  const lost = far(0.055);
  assert.equal(lost.holds, 'partly');
  assert.match(lost.sentence, /a loss where a smaller gain was published/);
});

test('a table shows a saving as less time, a loss as more time, and no value for one store against itself', () => {
  const near = rowsOf({ light: 4.18, heavy: 25, far: 660 }).filter(({ isFar }) => !isFar);
  const { columns, rows } = domainTable('near', near, false);
  const at = columns.findIndex(({ name }) => name === 'against one store');
  assert.deepEqual(
    rows.map(({ values }) => values[at]),
    ['', -0.5, '', 0.25],
  );
  assert.ok(rows.every(({ values }) => values.length === columns.length));
});

test('published values are shown only beside light commands on loopback, with stores on their own cores', () => {
  const published = (rows: readonly DomainRow[], isFar: boolean) =>
    domainTable('', rows, isFar).rows.map((one) => one.published);
  const each = { shape: 'one store each' } as const;
  assert.deepEqual(published([row({}), row(each), row({ ...each, weight: 'heavy' })], false), [
    '8.36 µs, 9.30 µs',
    '5.54 µs (−33 %), 6.68 µs (−28 %)',
    undefined,
  ]);
  assert.deepEqual(published([row({ isFar: true }), row({ ...each, isFar: true })], true), [undefined, undefined]);
  const cluster = row({ shape: 'a cluster of three shards' });
  assert.deepEqual(published([row({ isAnywhere: true }), cluster], false), [undefined, undefined]);
  assert.deepEqual([row({}), row(each), cluster].map(publishedUs), [8.36, 5.54, undefined]);
});

test('three clients have finished when the slowest has, and the store use is measured over that time', () => {
  const latencyMs = { mean: 1, p50: 1, p95: 1, p99: 2, max: 9 };
  const clients = [
    { perSecond: 1000, latencyMs, processorSeconds: 0.4 },
    { perSecond: 500, latencyMs: { ...latencyMs, p99: 5 }, processorSeconds: 0.6 },
    { perSecond: 2000, latencyMs, processorSeconds: 0.2 },
  ];
  const { usPerOp, generatorCores, ...others } = figuresOf(clients, 1000, 1.5);
  assert.deepEqual(others, { perSecond: 1500, storeUsPerOp: 500, p99Ms: 5, storeCores: 0.75 });
  assert.ok(Math.abs(usPerOp - 2e6 / 3000) < 1e-6, `${usPerOp}`);
  assert.ok(Math.abs(generatorCores - 0.6) < 1e-9, `${generatorCores}`);
});

test('a gain for pages only makes the lesson hold in part', () => {
  assert.equal(domainsLesson(rowsOf({ light: 8.3, heavy: 12, far: 666 }), cores(EIGHT)).holds, 'partly');
});

test('three stores that share one full core gain nothing, and the sentence says what this machine cannot show', () => {
  const { holds, sentence } = domainsLesson(rowsOf({ light: 8.6, heavy: 20, far: 666, limit: 'store' }), cores(TWO));
  assert.equal(holds, 'no');
  assert.match(sentence, /The three stores have one core together here, and it was full/);
  assert.match(sentence, /cannot show three stores side by side: at the 8 µs of processor/);
  assert.match(sentence, /125,000\/s at most/);
});

test('full clients are named as the reason, and stores are not reported as full', () => {
  const { sentence } = domainsLesson(rowsOf({ light: 8.6, heavy: 20, far: 666, limit: 'generator' }), cores(EIGHT));
  assert.match(sentence, /The clients, not the stores, were the limit/);
});

test('when nothing was full, the round trip is the reason', () => {
  const { sentence } = domainsLesson(rowsOf({ light: 8.6, heavy: 20, far: 666, limit: 'neither' }), cores(EIGHT));
  assert.match(sentence, /Nothing was full/);
});

test('three stores on one core fill it together, even if none of them is busy alone', () => {
  assert.equal(limitOfStores(TWO, 3, { storeCores: 0.95, generatorCores: 0.5 }), 'store');
  assert.equal(limitOfStores(EIGHT, 3, { storeCores: 0.95, generatorCores: 0.5 }), 'neither');
  assert.equal(limitOfStores(EIGHT, 1, { storeCores: 0.95, generatorCores: 0.5 }), 'store');
});

test('where stores and clients share all cores, both are limited when no core is left', () => {
  const busy = { storeCores: 0.9, generatorCores: 0.95 };
  assert.equal(limitOfStores(TWO, 3, busy, { isAnywhere: true }), 'both');
  assert.equal(limitOfStores(EIGHT, 3, busy, { isAnywhere: true }), 'neither');
});

function rowsOf(us: {
  readonly light: number;
  readonly heavy: number;
  readonly far: number;
  readonly limit?: DomainRow['limit'];
}): readonly DomainRow[] {
  const each = { shape: 'one store each', ...(us.limit && { limit: us.limit }) } as const;
  return [
    row({ usPerOp: 8.36 }),
    row({ ...each, usPerOp: us.light }),
    row({ weight: 'heavy', usPerOp: 20 }),
    row({ ...each, weight: 'heavy', usPerOp: us.heavy }),
    row({ isFar: true, usPerOp: 667 }),
    row({ ...each, isFar: true, usPerOp: us.far }),
  ];
}

function cores({ storeCount, generatorCount }: typeof TWO) {
  return { storeCores: storeCount, allCores: storeCount + generatorCount };
}

function row(own: Partial<DomainRow>): DomainRow {
  return {
    weight: 'light',
    shape: 'one store for all three',
    isFar: false,
    isAnywhere: false,
    usPerOp: 8.36,
    perSecond: 119_617,
    storeUsPerOp: 8,
    p99Ms: 0.1,
    storeCores: 0.95,
    generatorCores: 0.6,
    limit: 'store',
    command: '',
    ...own,
  };
}
