import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DrivenRow } from '../../../../loadtest/labs/experiments/many-clients/driven-row.ts';
import { rungsOf } from '../../../../loadtest/labs/experiments/many-clients/room.ts';
import { closedLoopRow } from '../../../../loadtest/labs/experiments/reconnect/closed-loop-rows.ts';
import { type ReconnectFigures, reconnectLesson } from '../../../../loadtest/labs/experiments/reconnect/lesson.ts';
import { CLIENTS, MANNERS } from '../../../../loadtest/labs/experiments/reconnect/manner.ts';
import { together } from '../../../../loadtest/labs/experiments/reconnect/price.ts';
import { closedTable, otherTable, priceTable } from '../../../../loadtest/labs/experiments/reconnect/tables.ts';
import { closedLoop } from '../../../../loadtest/labs/kit/driver/drive.ts';
import type { Limit } from '../../../../loadtest/labs/kit/finding.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';

const [KEPT, , , EACH] = MANNERS;
assert.ok(KEPT && EACH);

function figuresOf(each: { readonly meanMs: number; readonly storeCores: number; readonly limit?: Limit }) {
  const { limit = 'generator' } = each;
  const rows: ReconnectFigures['rows'] = [200, 2000].flatMap((clients) => [
    { every: undefined, clients, meanMs: 40, storeCores: 0.9, limit: 'both' as const },
    { every: 5, clients, meanMs: 1, storeCores: 0, limit },
    { ...each, every: 1, clients, limit },
  ]);
  return { rows, prices: [{ isTls: true, anewUs: 500, keptUs: 25 }] };
}

test('the lesson holds when clients wait while the store idles, and the full part is named', () => {
  const { holds, sentence } = reconnectLesson(figuresOf({ meanMs: 240, storeCores: 0.45 }));
  assert.equal(holds, 'yes');
  assert.match(sentence, /2,000 clients wait 6\s× as long \(240\sms instead of 40\sms\)/);
  assert.match(sentence, /busy for 45\s% of a core instead of 90\s%/);
  assert.match(sentence, /The generator was full in each of these rows/);
  assert.match(sentence, /with TLS .* 20\s× .*so a connect is 475 µs/);
});

test('waiting for a store that stays busy makes the lesson hold in part, and so does a store that idles while no client waits', () => {
  const busy = reconnectLesson(figuresOf({ meanMs: 240, storeCores: 0.9, limit: 'store' }));
  assert.equal(busy.holds, 'partly');
  assert.match(busy.sentence, /but it did not idle/);
  assert.match(busy.sentence, /The store was full in each of these rows/);
  const idle = reconnectLesson(figuresOf({ meanMs: 60, storeCores: 0.4 }));
  assert.equal(idle.holds, 'partly');
  assert.match(idle.sentence, /but nobody waited/);
});

test('new connections that add no waiting and leave the store equally busy do no harm', () => {
  const { holds, sentence } = reconnectLesson(figuresOf({ meanMs: 50, storeCores: 0.85, limit: 'neither' }));
  assert.equal(holds, 'no');
  assert.match(sentence, /Neither was full in each of these rows/);
});

test('a cost too small to measure is not used as a divisor', () => {
  const { rows } = figuresOf({ meanMs: 240, storeCores: 0.4 });
  const { sentence } = reconnectLesson({ rows, prices: [{ isTls: false, anewUs: 50, keptUs: 0 }] });
  assert.doesNotMatch(sentence, /At one rate/);
});

test('when no number of clients could be measured, the answer is "unseen"', () => {
  const { holds, sentence } = reconnectLesson({ rows: [], prices: [] });
  assert.equal(holds, 'unseen');
  assert.match(sentence, /^It could not be seen here: /);
});

test('a low limit on open files limits the number of clients to exactly what it allows', () => {
  assert.deepEqual(rungsOf(900, CLIENTS), [200, 800]);
  assert.deepEqual(rungsOf(192, CLIENTS), [192]);
  assert.deepEqual(rungsOf(19_900, CLIENTS), [...CLIENTS]);
});

test('one disturbed row does not change the answer', () => {
  const { rows, prices } = figuresOf({ meanMs: 240, storeCores: 0.4 });
  const disturbed = rows.map((row) => (row.every === 1 && row.clients === 200 ? { ...row, meanMs: 90 } : row));
  assert.equal(reconnectLesson({ rows: disturbed, prices }).holds, 'yes');
});

test('a single number of clients with long waits, or with an idle store, is not enough for the whole answer', () => {
  const pairs = (few: readonly [number, number], many: readonly [number, number]) =>
    reconnectLesson({
      prices: [],
      rows: ([few, many] as const).flatMap(([meanMs, storeCores], at) => [
        { every: undefined, clients: [200, 2000][at] ?? 0, meanMs: 40, storeCores: 1, limit: 'both' as const },
        { every: 1, clients: [200, 2000][at] ?? 0, meanMs, storeCores, limit: 'generator' as const },
      ]),
    }).holds;
  // The geometric mean of 1.2 and 4 is 2.2; that of 0.7 and 1 is 0.84.
  assert.equal(pairs([48, 1], [160, 1]), 'no');
  assert.equal(pairs([40, 0.7], [40, 1]), 'no');
  assert.equal(pairs([80, 1], [160, 1]), 'partly');
  assert.equal(pairs([40, 0.6], [40, 1]), 'partly');
});

test('a cost is the mean over all rounds, weighted by their time', () => {
  const round: DrivenRow = {
    ...{ perSecond: 100, meanMs: 1, p50Ms: 1, p99Ms: 2, errors: 1, errorShare: 0, connects: 30, seconds: 1 },
    ...{ answered: 100, storeCores: 0.4, generatorCores: 0.8, storeUs: 1, generatorUs: 1, limit: 'neither' },
  };
  const longer = { ...round, seconds: 3, answered: 700, storeCores: 0.2, generatorCores: 0.4, connects: 50, errors: 2 };
  const of = { manner: EACH, isTls: false, connectsPerSecond: 0 };
  const price = together([round, longer].map((one) => ({ ...one, ...of })));
  const near = Object.fromEntries(Object.entries(price).map(([name, value]) => [name, Math.round(value * 1e6) / 1e6]));
  assert.deepEqual(near, {
    ...{ perSecond: 200, storeCores: 0.25, generatorCores: 0.5, storeUs: 1250, generatorUs: 2500 },
    ...{ connectsPerSecond: 20, errors: 3 },
  });
});

test('a connection that starts in the middle of its life is closed after its remaining commands', () => {
  const seen: string[] = [];
  const connection = {
    ...{ waiting: () => 0, pending: () => 0, open: async () => true, sweep: () => undefined, send: () => undefined },
    close: () => seen.push('close'),
  };
  const loop = closedLoop({ connection, most: 5, sentBefore: 3, send: () => seen.push('send') });
  loop.start();
  for (let answered = 0; answered < 7; answered += 1) loop.onIdle('answered');
  assert.equal(seen.join(' '), 'send send close send send send send send close send');
});

test('a new connection for each request gives one connect per answer, and a kept one gives none', async () => {
  const options = { cores: coresOf('0-1'), say: () => undefined, signal: new AbortController().signal };
  await inLab(options, async (lab) => {
    const store = await lab.startStore({ config: ['bind 127.0.0.1 127.0.0.2'] });
    const targets = ['127.0.0.1', '127.0.0.2'].map((host) => ({ host, port: store.port }));
    const wide = { store, targets };
    const anew = await closedLoopRow(lab, wide, { clients: 8, manner: EACH, seconds: 0.4 });
    assert.ok(anew.answered > 20, `${anew.answered}`);
    // The first of each was opened before the measurement; the last may be open and unanswered.
    const { connects, answered } = anew;
    assert.ok(Math.abs(connects - answered) <= 8, `${connects} connects, ${answered} answers`);
    assert.equal(anew.errors, 0);
    const kept = await closedLoopRow(lab, wide, { clients: 8, manner: KEPT, seconds: 0.4 });
    assert.ok(kept.answered > 20 && kept.connects === 0 && kept.errors === 0, JSON.stringify(kept));
  });
});

test('every row has a value for each column, a limit, and a command that reconnects in the same way', () => {
  const driven: DrivenRow = {
    ...{ perSecond: 8000, meanMs: 1, p50Ms: 1, p99Ms: 2, errors: 0, errorShare: 0, connects: 0, seconds: 2 },
    ...{ answered: 20_000, storeCores: 0.2, generatorCores: 0.4, storeUs: 20, generatorUs: 40, limit: 'neither' },
  };
  const counted = { clients: 200, perSecond: 1, p50Ms: 1, p99Ms: 1, storeCores: 1, generatorCores: 1, storeUs: 1 };
  const tables = [
    closedTable([{ ...driven, manner: EACH, clients: 2000, connectsPerSecond: 1 }]),
    priceTable([{ ...driven, manner: EACH, isTls: true, connectsPerSecond: 1 }]),
    otherTable([{ ...counted, limit: 'store', command: '-k 0', isKept: false, roundMs: 1 }]),
  ];
  for (const { columns, rows } of tables) {
    for (const row of rows) {
      assert.equal(row.values.length, columns.length);
      assert.ok(row.limit);
      assert.match(row.command ?? '', /--reconnect-interval=1|-k 0/);
    }
  }
  assert.match(tables[0]?.rows[0]?.published ?? '', /> 1000 ms/);
  assert.match(tables[1]?.rows[0]?.command ?? '', /--tls/);
  const kept = priceTable([{ ...driven, manner: KEPT, isTls: false, connectsPerSecond: 0 }]).rows[0]?.command ?? '';
  assert.match(kept, /--rate-limiting=160/);
  assert.doesNotMatch(kept, /reconnect/);
});
