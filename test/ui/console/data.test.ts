import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DomainLook } from '../../../src/operations/operations.ts';
import { amountText } from '../../../src/report/format.ts';
import { toHtml } from '../../../src/report/html.ts';
import { h } from '../../../src/report/tree.ts';
import { createHistory, liveCharts } from '../../../src/ui/console/assets/chart-groups.ts';
import { streamLines } from '../../../src/ui/console/assets/feeds.ts';
import { consoleAddress, consoleHref } from '../../../src/ui/console/assets/model.ts';
import { ago } from '../../../src/ui/console/assets/view/components.ts';
import { figuresAt } from '../../fakes/operations-control.ts';
import { fakeStatus } from '../../fakes/status.ts';

const control = {
  revision: 1,
  generation: 1,
  heardMsAgo: 0,
  shared: true,
  standing: 'ok' as const,
  halted: false,
  suppressed: 0,
  purges: 0,
  ranges: 0,
  drill: undefined,
  shadow: undefined,
  placement: undefined,
};
const look = (atMs: number): DomainLook => {
  return { domain: 'goods', figures: figuresAt(atMs, 1), status: fakeStatus('goods'), control };
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
    const [, hits = assert.fail()] = liveCharts(past.of('goods')).panels;
    assert.equal(toHtml(h('svg')(hits.drawn)).match(/M/g)?.length, 2);
    const [hitRatio = assert.fail()] = hits.legend;
    assert.deepEqual(
      [2000, 15_000, 31_000].map((atMs) => hitRatio.textAt(atMs) === undefined),
      [false, true, false],
    );
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
    const [{ frame, drawn, legend } = assert.fail()] = liveCharts(past.of('goods')).panels;
    const all = Object.values(figures.outcomes).reduce((sum, count) => sum + count, 0);
    assert.ok(all > figures.outcomes['hit-l1'], 'there is more than one outcome');
    const tops = drawn.map((area) => Number(/M[\d.]+ ([\d.]+)/.exec(area?.attributes['d'] ?? '')?.[1]));
    const heightOf = (count: number): number => Math.round(frame.y.at(count / figures.seconds) * 10) / 10;
    assert.equal(tops[0], heightOf(figures.outcomes['hit-l1']));
    assert.equal(Math.min(...tops), heightOf(all));
    assert.equal(legend[0]?.textAt(5000), amountText(figures.outcomes['hit-l1'] / figures.seconds));
  });

  it('have no value of a domain before its first figures', () => {
    const { figures: _, ...first } = look(1000);
    const past = createHistory();
    past.add(line(1000, first));
    for (const { id, isEmpty, legend } of liveCharts(past.of('goods')).panels) {
      assert.equal(isEmpty, id !== 'places', id);
      const known = legend.filter(({ textAt }) => textAt(1000) !== undefined);
      assert.equal(known.length, isEmpty ? 0 : legend.length, id);
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
      const found = await Array.fromAsync(streamLines(streamOf(bytes.subarray(0, cut), bytes.subarray(cut))));
      assert.deepEqual(found, [{ q: 'ёж' }, { q: 'б' }]);
    }
  });

  it('without an end are rejected before they fill the memory', async () => {
    const endless = new ReadableStream<Uint8Array>({ pull: (body) => body.enqueue(Buffer.alloc(2 ** 20, 'x')) });
    await assert.rejects(Array.fromAsync(streamLines(endless)), SyntaxError);
  });
});

it('an age that is not known is a dash', () => {
  assert.equal(ago(undefined), '–');
});

describe('the address', () => {
  it('is read back from its own link, for any domain name', () => {
    for (const domain of ['goods', 'a/b', '%', 'тест']) {
      assert.deepEqual(consoleAddress(consoleHref(domain, 'drills')), { domain, view: 'drills' });
      const older = consoleHref(domain, 'audit', '0a1b2c3d4e5f-12');
      assert.deepEqual(consoleAddress(older), { domain, view: 'audit', before: '0a1b2c3d4e5f-12' });
    }
    assert.deepEqual(consoleAddress('#/goods/audit/x&limit=1'), { domain: 'goods', view: 'audit' });
  });

  it('that cannot be read is the first view of the first domain', () => {
    for (const hash of ['', '#', '#/', '#/%zz/nope']) {
      assert.deepEqual(consoleAddress(hash), { domain: undefined, view: 'live' }, hash);
    }
  });
});
