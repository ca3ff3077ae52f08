import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DomainLook } from '../../../src/ui/console/assets/api.mjs';
import { linesOf } from '../../../src/ui/console/assets/feeds.mjs';
import { addressFrom, hrefOf } from '../../../src/ui/console/assets/model.mjs';
import { CHARTS, columnsOf, createHistory } from '../../../src/ui/console/assets/plot/charts.mjs';
import { figuresAt } from '../../fakes/operations-control.ts';
import { fakeStatus } from '../../fakes/status.ts';

const control = {
  ...{ revision: 1, generation: 1, heardMsAgo: 0, shared: true, standing: 'ok' as const, halted: false },
  ...{ suppressed: 0, purges: 0, ranges: 0 },
};
const look = (atMs: number): DomainLook => {
  return { domain: 'goods', figures: figuresAt(atMs, 1, undefined, 0), status: fakeStatus('goods'), control };
};
const line = (atMs: number, some: DomainLook = look(atMs)) => ({ atMs, domains: [some], drills: [] });

describe('the last five minutes', () => {
  it('hold one window of moments, the newest last', () => {
    const past = createHistory();
    for (let s = 1; s <= 1000; s += 1) past.add(line(s * 1000));
    const kept = past.of('goods');
    assert.equal(kept.at(-1)?.atMs, 1_000_000);
    assert.ok(kept.length <= 301 && (kept[0]?.atMs ?? 0) > 699_999);
  });

  it('show a pause as a gap and not as a line across it', () => {
    const past = createHistory();
    for (const s of [1, 2, 30, 31]) past.add(line(s * 1000));
    assert.deepEqual(
      past.of('goods').map((moment) => moment.look !== undefined),
      [true, true, false, true, true],
    );
    const hits = CHARTS.find(({ id }) => id === 'hits') ?? assert.fail();
    const [times, column] = columnsOf(hits, past.of('goods'));
    assert.equal(times.length, 5);
    assert.equal(column?.[2], null);
  });

  it('start again when the clock of the service was set back', () => {
    const past = createHistory();
    for (const atMs of [50_000, 51_000, 10_000, 11_000]) past.add(line(atMs));
    assert.deepEqual(
      past.of('goods').map(({ atMs }) => atMs),
      [10_000, 11_000],
    );
  });

  it('stack the outcomes so that the uppermost line is the sum of all searches', () => {
    const { figures } = look(5000);
    assert.ok(figures !== undefined);
    const past = createHistory();
    past.add(line(5000));
    const outcomes = CHARTS.find(({ stacked }) => stacked) ?? assert.fail();
    const columns = columnsOf(outcomes, past.of('goods'));
    const all = Object.values(figures.outcomes).reduce((sum, count) => sum + count, 0);
    assert.ok(all > figures.outcomes['hit-l1'], 'there is more than one outcome');
    assert.equal(columns.at(-1)?.[0], all);
    assert.equal(columns[1]?.[0], figures.outcomes['hit-l1']);
  });

  it('have no value of a domain before its first figures', () => {
    const { figures: _, ...first } = look(1000);
    const past = createHistory();
    past.add(line(1000, first));
    for (const chart of CHARTS.filter(({ id }) => id !== 'places')) {
      for (const column of columnsOf(chart, past.of('goods')).slice(1)) assert.deepEqual(column, [null], chart.id);
    }
  });
});

describe('lines of a stream', () => {
  const streamOf = (...chunks: readonly Buffer[]) =>
    new ReadableStream<Uint8Array>({
      start: (body) => {
        for (const chunk of chunks) body.enqueue(chunk);
        body.close();
      },
    });

  it('are the same for every cut of the bytes, also within a character', async () => {
    const bytes = Buffer.from('{"q":"ёж"}\n\n{"q":"б"}\n');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const found = await Array.fromAsync(linesOf(streamOf(bytes.subarray(0, cut), bytes.subarray(cut))));
      assert.deepEqual(found, [{ q: 'ёж' }, { q: 'б' }]);
    }
  });

  it('without an end are rejected before they fill the memory', async () => {
    const endless = new ReadableStream<Uint8Array>({ pull: (body) => body.enqueue(Buffer.alloc(2 ** 20, 'x')) });
    await assert.rejects(Array.fromAsync(linesOf(endless)), SyntaxError);
  });
});

describe('the address', () => {
  it('is read back from its own link, for any domain name', () => {
    for (const domain of ['goods', 'a/b', '%', 'тест']) {
      assert.deepEqual(addressFrom(hrefOf(domain, 'drills')), { domain, view: 'drills' });
      const older = hrefOf(domain, 'audit', '0a1b2c3d4e5f-12');
      assert.deepEqual(addressFrom(older), { domain, view: 'audit', before: '0a1b2c3d4e5f-12' });
    }
    assert.deepEqual(addressFrom('#/goods/audit/x&limit=1'), { domain: 'goods', view: 'audit' });
  });

  it('that cannot be read is the first view of the first domain', () => {
    for (const hash of ['', '#', '#/', '#/%zz/nope']) {
      assert.deepEqual(addressFrom(hash), { domain: undefined, view: 'live' }, hash);
    }
  });
});
