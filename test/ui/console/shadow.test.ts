import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ShadowSample } from '../../../src/operations/shadow/figures.ts';
import { curvesOf } from '../../../src/operations/shadow/report-plots.ts';
import type { ShadowStatus } from '../../../src/operations/shadow/shadow.ts';
import { toHtml } from '../../../src/report/html.ts';
import { h } from '../../../src/report/tree.ts';
import { feedsFor, readCurves } from '../../../src/ui/console/assets/feeds.ts';
import type { Model } from '../../../src/ui/console/assets/model.ts';
import { consoleView } from '../../../src/ui/console/assets/view/page.ts';
import { shadowView } from '../../../src/ui/console/assets/view/shadow.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { consoleModel, feed, wordsIn } from './harness.ts';

const clock = createFakeClock();
const operations = createFakeOperations({ clock });
const watcher = operations.watch();
watcher.look();
clock.advance(1000);
const live = { atMs: clock.wallMs(), domains: watcher.look(), drills: [] };
const [shadowed] = operations.shadows.list();
assert.ok(shadowed);
const running = await operations.shadows.status('goods');
const { shadow, verdict, ...idle } = running;
assert.ok(shadow !== undefined && verdict !== undefined);

const modelOf = (status: ShadowStatus, summary: object = status): Model =>
  consoleModel('#/goods/shadow', {
    live,
    feeds: {
      shadows: feed({ domains: [{ ...shadowed, ...summary }] }),
      shadowStatus: feed(status),
      shadowReports: feed({ reports: [] }),
    },
  });
const htmlOf = (status: ShadowStatus): string => toHtml(h('div')(shadowView(modelOf(status))));
const words = (status: ShadowStatus): string => wordsIn(htmlOf(status));
const actions = (status: ShadowStatus): readonly string[] =>
  [...htmlOf(status).matchAll(/data-action="([\w-]+)"/g)]
    .map(([, action = '']) => action)
    .filter((action) => action !== 'verdict-time');
const [main, valkey] = [running.configured, shadow.candidate];

describe('the shadow view', () => {
  it('shows the shadow, both sides and each criterion with its measured value', () => {
    const text = words(running);
    assert.match(text, /10 % of the keys to valkey, 1 copy of each read/);
    assert.match(text, /primary: main candidate: valkey/);
    assert.match(text, /✓ Recorded time met 10 min 00 s of 10 min 00 s are recorded/);
    assert.deepEqual(actions(running), ['cut-over', 'shadow-change', 'shadow-stop']);
  });

  it('tells a missed criterion from one that was not measured', () => {
    const criteria = [
      { name: 'latency', what: 'its p99 is 9 ms', met: 'no' },
      { name: 'volume', what: '3 reads', met: 'not-measured' },
    ] as const;
    const text = words({ ...running, verdict: { kind: 'do-not', why: 'Its p99 is 9 ms.', criteria: [...criteria] } });
    assert.match(text, /do not cut over Its p99 is 9 ms\./);
    assert.match(text, /✕ p99 of reads missed its p99 is 9 ms \? Compared reads not measured 3 reads/);
  });

  it('lists the keys whose values are wrong', () => {
    assert.doesNotMatch(words(running), /Keys with wrong values/);
    assert.match(words({ ...running, wrongKeys: ['sc1:goods:{1}:a', 'sc1:goods:{2}:b'] }), /sc1:goods:\{1\}:a sc1:/);
  });

  it('names the store in use and the phase, and offers what the phase allows', () => {
    const placed = { id: 'p', active: main, other: valkey, by: 'ana', atMs: 0 };
    const at = (placement: NonNullable<ShadowStatus['placement']>) => ({
      ...idle,
      active: placement.active,
      placement,
    });
    const prepared = at({ ...placed, phase: 'prepared' });
    assert.match(words(prepared), /store in use main .*prepared main is read; valkey is written too/);
    assert.deepEqual(actions(prepared), ['shadow-stop']);
    const committed = at({ ...placed, phase: 'committed', active: valkey, other: main });
    assert.match(
      words(committed),
      /store in use valkey configured main .*valkey is read first, main where it has no page/,
    );
    assert.deepEqual(actions(committed), ['cut-over-back', 'shadow-stop']);
    const { other: _, ...alone } = placed;
    assert.deepEqual(actions(at({ ...alone, phase: 'settled', active: valkey })), ['shadow-start']);
    assert.deepEqual(actions(at({ ...alone, phase: 'settled' })), ['shadow-start', 'shadow-stop']);
    assert.deepEqual(actions(idle), ['shadow-start']);
  });

  it('names a process that is behind, a warning, and the configuration that must be changed', () => {
    const processes = [{ id: 'replica-2', state: 'behind', problem: 'it reads main' }] as const;
    const text = words({ ...running, processes, warning: 'valkey is not declared.', configuration: 'store: valkey\n' });
    assert.match(text, /valkey is not declared\. Process replica-2 is behind : it reads main/);
    assert.match(text, /1 live, 1 behind/);
    assert.match(text, /configuration files of every process: store: valkey/);
  });

  it('is not offered for a domain without candidates, shadow and cut-over', () => {
    const { shadow: _, placement: _placement, ...bare } = { ...shadowed, candidates: [] };
    const links = (summary: object): string => {
      const shadows = feed({ domains: [summary as never] });
      return toHtml(h('div')(consoleView(consoleModel('#/goods/live', { live, feeds: { shadows } }))));
    };
    assert.match(links(shadowed), /#\/goods\/shadow/);
    assert.match(links({ ...bare, shadow }), /#\/goods\/shadow/);
    assert.doesNotMatch(links(bare), /#\/goods\/shadow/);
    assert.doesNotMatch(words({ ...running, candidates: [] }), /no candidate store/);
    const model = modelOf(running, { candidates: [], shadow: undefined });
    assert.match(toHtml(h('div')(shadowView(model))), /goods has no candidate store/);
    assert.deepEqual(
      feedsFor(model).map(({ name }) => name),
      ['shadows', 'doctor'],
    );
  });
});

const samples = operations.shadows.samples('goods');

/** The hit ratio of one side, per point of the curve. */
const ratios = (side: 'primary' | 'candidate'): readonly number[] =>
  curvesOf(samples, 0, true)
    .runs.flat()
    .map(
      ({ data }) =>
        data.reduce((sum, one) => sum + one[side].hits, 0) / data.reduce((sum, one) => sum + one[side].compared, 0),
    );

describe('the curves of a shadow', () => {
  it('have points of at least fifty reads, or of half a minute', () => {
    const points = curvesOf(samples, 0, true).runs.flat();
    assert.ok(points.length > 60 && points.length <= 300);
    assert.equal(points.at(-1)?.toMs, samples.at(-1)?.atMs);
    const candidate = ratios('candidate');
    assert.ok((candidate[0] ?? 1) < 0.2 && (candidate.at(-1) ?? 0) > 0.8, 'the candidate becomes full');
    assert.ok(ratios('primary').every((ratio) => ratio > 0.8));
    const quiet = samples.map(({ atMs, figures }): ShadowSample => {
      const side = { ...figures.primary, compared: 3, hits: 3 };
      return { atMs, figures: { ...figures, primary: side, candidate: side } };
    });
    const steps = curvesOf(quiet, 0, true)
      .runs.flat()
      .map(({ toMs }) => toMs);
    assert.deepEqual(new Set(steps.slice(1).map((atMs, i) => atMs - (steps[i] ?? 0))), new Set([30_000]));
  });

  it('break where nothing was recorded', () => {
    const { runs } = curvesOf(
      samples.filter(({ atMs }) => atMs < 100_000 || atMs > 200_000),
      0,
      true,
    );
    assert.equal(runs.length, 2);
    assert.ok((runs[0]?.at(-1)?.toMs ?? Number.NaN) < 100_000 && (runs[1]?.[0]?.fromMs ?? 0) > 190_000);
    assert.equal(curvesOf([], 0, true).runs.length, 0);
  });
});

describe('the samples of a shadow', () => {
  /** An admin API with the samples of one shadow. `known` is what the service answers at the next poll. */
  const watched = () => {
    const service = { shadow: 'a', samples: samples.slice(0, 4) };
    const asked: string[] = [];
    let latest = {};
    const get = async (path: string) => {
      asked.push(path.replace(/^.*&/, ''));
      const from = Number(path.replace(/^.*=/, ''));
      return { shadow: service.shadow, total: service.samples.length, samples: service.samples.slice(from) } as never;
    };
    /** @returns the number of samples known after it */
    const poll = async (receivedMs = performance.now()) => {
      const value = await readCurves({ get }, { path: '/admin/shadow/samples?domain=goods', ...latest });
      latest = { value, receivedMs };
      return value.samples.length;
    };
    return { service, asked, poll };
  };

  it('are read once each', async () => {
    const { service, asked, poll } = watched();
    await poll();
    service.samples = samples.slice(0, 6);
    assert.equal(await poll(), 6);
    assert.deepEqual(asked, ['from=0', 'from=4']);
  });

  it('are read again from the first when the service has joined some, and when another shadow has begun', async () => {
    const { service, asked, poll } = watched();
    await poll();
    service.samples = samples.slice(0, 3);
    assert.equal(await poll(), 3);
    Object.assign(service, { shadow: 'b', samples: samples.slice(0, 5) });
    assert.equal(await poll(), 5);
    assert.deepEqual(asked, ['from=0', 'from=4', 'from=0', 'from=3', 'from=0']);
  });

  it('are read again from the first after a pause in which the service may have joined some unseen', async () => {
    const { asked, poll } = watched();
    await poll(performance.now() - 301_000);
    assert.equal(await poll(), 4);
    assert.deepEqual(asked, ['from=0', 'from=0']);
  });
});
