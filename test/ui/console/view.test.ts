import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { Journal, Sample } from '../../../src/operations/drills/journal.ts';
import type { DomainLook } from '../../../src/operations/operations.ts';
import { systemClock } from '../../../src/runtime.ts';
import { type Model, runningDrills } from '../../../src/ui/console/assets/model.ts';
import { auditView } from '../../../src/ui/console/assets/view/changes.ts';
import { cohortRatios } from '../../../src/ui/console/assets/view/cohorts.ts';
import { domainView } from '../../../src/ui/console/assets/view/domain.ts';
import { drillsView } from '../../../src/ui/console/assets/view/drills.ts';
import { announcedChanges, announcementsOf, drillStripView } from '../../../src/ui/console/assets/view/page.ts';
import { journalOf } from '../../fakes/journal.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { figuresAt } from '../../fakes/operations-control.ts';
import { FAKE_PLANS } from '../../fakes/operations-drills.ts';
import { consoleModel, feed } from './harness.ts';

describe('a drill that is rolled back', () => {
  const drill = {
    id: 'd',
    plan: 'canary',
    title: 'One key',
    domains: ['goods'],
    startedAtMs: 0,
    here: true,
    running: false,
    ending: { ended: { kind: 'aborted', detail: 'Aborted by ana.' } },
  } as const;
  const live = { atMs: 1000, domains: [], drills: [drill] };
  const model = consoleModel('#/goods/drills', { live, feeds: { drills: feed({ drills: [drill], unreadable: [] }) } });

  it('is shown nowhere as running, and cannot be aborted', () => {
    for (const view of [drillStripView(model), drillsView(model)]) {
      const words = JSON.stringify(view);
      assert.match(words, /aborted: cache restored, taking the last figures/);
      assert.doesNotMatch(words, /"running"/);
    }
    assert.deepEqual(runningDrills(model), []);
    assert.match([...announcementsOf(model).values()].join(' '), /The drill One key: aborted: cache restored/);
  });
});

describe('the audit', () => {
  const entries = [
    { atMs: 0, action: 'halt', by: '192.0.2.1', result: 'wrong-token', omitted: 495 },
    { atMs: 0, action: 'halt', by: 'ana from 192.0.2.2', result: 'done' },
  ];
  const modelAt = (hash: string, next: object): Model =>
    consoleModel(hash, { feeds: { audit: feed({ entries, ...next }) } });
  const hrefs = (model: Model): readonly string[] =>
    [...JSON.stringify(auditView(model)).matchAll(/"href":"([^"]+)"/g)].map(([, href = '']) => href);

  it('links the older entries and the newest, and counts those omitted', () => {
    const older = { next: '0a1b2c3d4e5f-99' };
    assert.deepEqual(hrefs(modelAt('#/goods/audit', older)), ['#//audit/0a1b2c3d4e5f-99']);
    assert.deepEqual(hrefs(modelAt('#/goods/audit/0a1b2c3d4e5f-99', {})), ['#//audit']);
    assert.deepEqual(hrefs(modelAt('#/goods/audit', {})), []);
    const words = JSON.stringify(auditView(modelAt('#/goods/audit', {})));
    assert.equal(words.match(/ and 495 more like it before, omitted/g)?.length, 1);
    assert.equal(words.match(/omitted/g)?.length, 1);
  });
});

describe('a report that cannot be read', () => {
  it('is shown as text, with its location and the reason', () => {
    const why = '<img src=x onerror=alert(1)>';
    const unreadable = [{ where: 'the control store of goods', why }];
    const model = consoleModel('#/goods/drills', { feeds: { drills: feed({ drills: [], unreadable }) } });
    const words = JSON.stringify(drillsView(model));
    assert.match(words, /None yet/);
    assert.match(words, /unreadable.*in the control store of goods: <img/);
  });
});

describe('cohorts', () => {
  const plan = FAKE_PLANS.find(({ name }) => name === '1-5-25-100') ?? assert.fail();
  const sampled = (cohorts: Sample['figures']['cohorts'], count: number): Journal => {
    const samples = Array.from({ length: count }, (_, i): Sample => {
      const figures = { ...figuresAt(i, 0.5), cohorts };
      return { atMs: i * 500, domain: 'goods', phase: 'baseline', stage: 0, figures, guards: [] };
    });
    return { ...journalOf({ plan }), samples };
  };

  it('with too few searches have no ratio, also when all of them hit', () => {
    const [control] = cohortRatios(sampled([{ searches: 1, hitRatio: 1 }], 10));
    assert.deepEqual(control, { name: 'control', before: undefined, now: undefined });
  });

  it('have a ratio over as many samples as it needs, and each search counts once', () => {
    const journal = sampled(
      [
        { searches: 2, hitRatio: 0.5 },
        { searches: 100, hitRatio: 0.9 },
      ],
      30,
    );
    const [control, first] = cohortRatios(journal);
    assert.equal(control?.now, 0.5);
    assert.equal((first?.name ?? '').replace('\u00a0', ' '), '1 %');
    assert.ok(Math.abs((first?.now ?? 0) - 0.9) < 1e-9);
  });
});

describe('announcements', () => {
  const before = new Map([
    ['link', 'Connected.'],
    ['drill a', 'The drill a runs.'],
  ]);

  it('are the states that changed and the drills that ended, and none at the first drawing', () => {
    const now = new Map([['link', 'Connection lost.']]);
    assert.deepEqual(announcedChanges(before, now), ['Connection lost.', 'drill a has ended.']);
    assert.deepEqual(announcedChanges(new Map(), before), []);
    assert.deepEqual(announcedChanges(before, before), []);
  });
});

test('the feed of changes is shown with its rate, its lag, the pages refreshed by it and the figure of the audit', () => {
  const [look] = createFakeOperations({ clock: systemClock }).watch().look();
  const words = (changes: DomainLook['changes']): string => {
    const live = { atMs: 1000, domains: [{ ...(look ?? assert.fail()), changes }], drills: [] };
    return JSON.stringify(domainView(consoleModel('#/goods', { live })));
  };
  const { changes = assert.fail() } = look ?? {};
  const shown = words({ ...changes, perSecond: 12 });
  assert.match(
    shown,
    /followed.*12\/s, 40 since the start.*1.s ago, lag 20.ms.*refreshed by it: changed 30, entered 4/,
  );
  assert.match(shown, /1,000 answers per million \(95 %: 177 to 5,643\), 1,000 audited/);
  const silent = words({ ...changes, following: false, heardMsAgo: 90_000, audit: { audited: 0, stale: 0 } });
  assert.match(silent, /heard 1:30.min ago.*nothing audited yet/);
  assert.doesNotMatch(words(undefined), /Feed of changes/);
});
