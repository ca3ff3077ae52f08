import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { toHtml } from '../../../src/report/html.ts';
import { h } from '../../../src/report/tree.ts';
import type { Model } from '../../../src/ui/console/assets/model.ts';
import { consoleView } from '../../../src/ui/console/assets/view/page.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { eachPlace, HOSTILE_VALUES, partsOf } from '../../fakes/hostile.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { previewOf } from '../../fakes/operations-control.ts';
import { consoleModel, feed } from './harness.ts';

const VIEWS = ['live', 'drills', 'shadow', 'doctor', 'changes', 'popular', 'audit'] as const;
const CALLER = { reason: 'rehearsal', by: 'ana' };

/** A model with a value in every part, from a service with operations of each kind. */
async function fullModel(isOver: boolean): Promise<Model> {
  const clock = createFakeClock();
  const operations = createFakeOperations({ clock });
  const { drills, warm } = operations;
  const { id } = await drills.start({ plan: '1-5-25-100', domains: ['goods'], ...CALLER });
  const watcher = operations.watch();
  watcher.look();
  clock.advance(isOver ? 10_000_000 : 60_000);
  if (isOver) await drills.halt(CALLER);
  warm.start({ domain: 'goods', from: 'popular', maxPerSecond: 10 });
  const popular = await operations.domain('goods').popular(2);
  const atMs = clock.wallMs();
  const preview = previewOf('drop', 0.5, [{ from: 0, to: 5000 }]);
  const asked = { plan: '1-5-25-100', domains: ['goods'] };
  const journal = await drills.journal(id);
  const entry = { action: 'purge', domain: 'goods', by: 'ana', reason: 'a fault', result: 'done', atMs } as const;
  const erasure = await operations
    .domain('goods')
    .flush.erase({ ranges: [], by: 'unlink' }, new AbortController().signal);
  const { drills: list } = await drills.list();
  const status = await operations.shadows.status('goods');
  const store = { name: 'old', fingerprint: 'x' };
  const shadow = {
    ...{ ...status, warning: 'w', wrongKeys: ['k'], configuration: 'c' },
    processes: [{ id: 'p', state: 'behind', problem: 'late' }],
    placement: { id: 'm', phase: 'committed', active: status.active, other: store, by: 'ana', atMs },
  } as const;
  const { report } = await operations.doctor.examine();
  const standing = operations.doctor.standing() ?? assert.fail();
  const look = watcher.look();
  const [first = assert.fail()] = look;
  const placed = { phase: 'committed', active: 'main', other: 'old' } as const;
  const control = { ...first.control, shadow: { candidate: 'old', fraction: 0.5, reads: 1 }, placement: placed };
  return consoleModel('#/goods/live', {
    live: { atMs, domains: [{ ...first, control }, ...look.slice(1)], drills: list },
    feeds: {
      halt: feed({ halted: true, domains: [{ domain: 'goods', ...CALLER, atMs }] }),
      plans: feed({ plans: drills.plans().slice(0, 2) }),
      drills: feed({ drills: list, unreadable: [{ id, where: 'the control store of goods', why: '/marks/0' }] }),
      popular: feed({ domain: 'goods', ...popular }),
      suppressed: feed({ domain: 'goods', max: 9, suppressed: [{ id: 'a', atMs }] }),
      flush: feed({ domain: 'goods', erasure }),
      warm: feed({ warmUps: warm.list() }),
      shadows: feed({ domains: [shadow] }),
      shadowStatus: feed(isOver ? shadow : { ...shadow, placement: { ...shadow.placement, phase: 'prepared' } }),
      shadowReports: feed({ reports: (await operations.shadows.reports()).slice(0, 1) }),
      doctor: feed({ standing, history: operations.doctor.history() }),
      journal: feed({ ...journal, samples: journal.samples.slice(-2), nextSample: 2, emptyReads: 0 }),
      curves: feed({ samples: [] }),
      audit: feed({ entries: [{ ...entry, omitted: 3, before: { a: 1 }, after: { a: 2 } }], next: '0a1b2c3d4e5f-99' }),
    },
    watched: id,
    examination: { report: { ...report, remarks: ['r'] } },
    drillDryRun: { ...asked, preview: await drills.preview(asked) },
    flushDryRun: { request: { domain: 'goods', mode: 'drop', fraction: 0.5 }, preview },
    feedback: { flush: { kind: 'done', text: 'done' }, drills: { kind: 'refused', text: 'no' } },
  });
}

/** The view that shows a part of the model. Every view shows the other parts. */
const SHOWN_IN: readonly (readonly [path: RegExp, view: (typeof VIEWS)[number]])[] = [
  [/^feeds\.(?:plans|drills|journal)|^watched|^drillDryRun|^feedback\.drills/, 'drills'],
  [/^feeds\.shadow/, 'shadow'],
  [/^feeds\.doctor|^examination/, 'doctor'],
  [/^feeds\.(?:flush|warm|suppressed)|^flushDryRun|^feedback/, 'changes'],
  [/^feeds\.popular/, 'popular'],
  [/^feeds\.audit/, 'audit'],
];

const draw = (model: Model): string => toHtml(h('div')(consoleView(model)));
function drawn(model: Model, view: (typeof VIEWS)[number]): ReadonlySet<string> {
  return partsOf(draw({ ...model, address: { ...model.address, view } }));
}

describe('a hostile value in anything that the console reads becomes text, and the console is drawn', () => {
  let models: readonly Model[];
  let ours: ReadonlySet<string>;
  before(async () => {
    models = await Promise.all([fullModel(false), fullModel(true)]);
    const [model] = models;
    assert.ok(model);
    const others: readonly Model[] = [
      {
        ...model,
        readOnly: true,
        hasToken: false,
        connection: { kind: 'lost', why: 'gone', wasLive: true, retryAtMs: 9 },
      },
      { ...model, busy: ['examine'] },
      { ...model, nowMs: 60_000, live: { ...(model.live ?? assert.fail()), drills: [], domains: [] } },
      { ...model, feeds: { audit: { path: '', problem: { code: 'internal', message: 'no' } } } } as Model,
    ];
    ours = new Set([...models, ...others].flatMap((each) => VIEWS.flatMap((view) => [...drawn(each, view)])));
  });

  it('a console with ordinary values has nothing that could run', () => {
    assert.deepEqual(
      [...ours].filter((part) => /^(?:script|iframe|object|style|stray|runs)|\bon\w+$|style$/.test(part)),
      [],
    );
  });

  // Each place gets an object shaped like an element and one other value: all values in every place would take half a
  // minute.
  it('in every place of every part', () => {
    const [element = assert.fail(), ...others] = HOSTILE_VALUES;
    let turn = 0;
    for (const { address, ...read } of models) {
      for (const [path, put] of eachPlace(read)) {
        // The console sets these itself.
        if (read.live?.drills[0]?.running === false && !path.startsWith('feeds.journal.value')) continue;
        if (/^(?:receivedMs|nowMs|hasToken|readOnly|busy|feeds|feedback|connection|live)(?:$|\.\w+$)/.test(path))
          continue;
        const shown = SHOWN_IN.find(([pattern]) => pattern.test(path))?.[1] ?? VIEWS[turn % VIEWS.length] ?? 'live';
        turn += 1;
        for (const [name, value] of [element, others[turn % others.length] ?? element]) {
          const foreign = [...drawn({ ...put(value), address }, shown)].filter((part) => !ours.has(part));
          assert.deepEqual(foreign, [], `${shown}: ${path}: ${name}`);
        }
      }
    }
  });
});
