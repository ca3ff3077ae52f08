import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Overlay } from '../../../src/control/document.ts';
import { createRemoteDrills } from '../../../src/operations/drills/drill-list.ts';
import type { DrillDomain } from '../../../src/operations/drills/drills.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { reportPage } from '../../../src/operations/drills/report/report-page.ts';
import { HEAD_REPORT } from '../../../src/operations/drills/run-drill.ts';
import { encodeRecord } from '../../../src/report/record-archive.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { journalOf } from '../../fakes/journal.ts';
import { temporaryFolder } from '../../folder.ts';
import { plain } from '../../plain.ts';
import { createDrillHarness, planOf } from './harness.ts';

const QUICK = planOf({ stages: [{ fraction: 0.5, holdMs: 1000 }], baselineMs: 1000, afterMs: 1000 });

test('a report outlives the process that made it', async (t) => {
  const directory = temporaryFolder(t);
  const harness = createDrillHarness(t, { directory });
  const journal = await harness.run(QUICK);
  await harness.close();
  const next = createDrillHarness(t, { directory });
  const [listed] = (await next.drills.list()).drills;
  assert.deepEqual([listed?.id, listed?.running, listed?.verdict?.kind], [journal.id, false, 'passed']);
  assert.deepEqual(await next.drills.journal(journal.id), plain(journal));
  assert.equal(await next.drills.page(journal.id), `<p>${journal.id}</p>`);
});

test('each journal is one JSON file, and no draft is left', async (t) => {
  const directory = temporaryFolder(t);
  const harness = createDrillHarness(t, { directory });
  const { id } = await harness.start(QUICK);
  assert.deepEqual(await readdir(directory), [`${id}.json`], 'from its start on');
  const journal = await harness.end(id);
  await harness.drills.close();
  const text = await readFile(join(directory, `${id}.json`), 'utf8');
  assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(journal)));
});

test('a journal without an end is an abandoned drill, with the verdict lost, and can be resumed', async (t) => {
  const directory = temporaryFolder(t);
  const harness = createDrillHarness(t, { directory });
  const { id } = await harness.start(planOf());
  let cut = '';
  harness.onTick = (journal) => {
    if (journal.state.kind === 'running' && journal.state.stage === 1) cut = encodeRecord(journal);
  };
  await harness.end(id);
  await harness.close();
  await writeFile(join(directory, `${id}.json`), cut);
  const next = createDrillHarness(t, { directory });
  const [listed] = (await next.drills.list()).drills;
  assert.equal(listed?.running, false);
  assert.equal(listed?.verdict?.kind, 'lost');
  const lost = await next.drills.journal(id);
  assert.deepEqual(lost.verdict?.resumable, { domain: 'goods', stage: 1 });
  assert.ok((lost.endedAtMs ?? 0) > lost.startedAtMs);
  const resumed = await next.end((await next.drills.resume(id, { by: 'anna', reason: 'again' })).id);
  assert.equal(resumed.verdict?.kind, 'passed', resumed.verdict?.detail ?? 'no verdict');
});

test('only the newest reports are kept', async (t) => {
  const directory = temporaryFolder(t);
  const harness = createDrillHarness(t, { directory, keep: 2 });
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    ids.push((await harness.run(QUICK)).id);
    harness.clock.advance(1000);
  }
  await harness.drills.close();
  const kept = (await readdir(directory)).sort();
  assert.deepEqual(
    kept,
    ids.slice(2).map((id) => `${id}.json`),
  );
});

test('damaged files and other paths are not read; damaged files with the name of a journal are listed as unreadable', async (t) => {
  const directory = temporaryFolder(t);
  await writeFile(join(directory, 'notes.json'), '{}');
  await writeFile(join(directory, '20260101-000000-goods-x-aaaa.json'), '{"id":');
  await writeFile(join(directory, '20260101-000001-goods-x-aaaa.json'), '{"id":"other"}');
  const harness = createDrillHarness(t, { directory });
  const { drills, unreadable } = await harness.drills.list();
  assert.deepEqual(drills, []);
  const shown = unreadable.map(({ id, where, why }) => [id, where.startsWith(directory), why]);
  assert.deepEqual(shown, [
    ['20260101-000001-goods-x-aaaa', true, 'it is no journal of a drill'],
    ['20260101-000000-goods-x-aaaa', true, 'it is no journal of a drill'],
  ]);
  for (const id of ['20260101-000000-goods-x-aaaa', '../notes', 'notes', '', `${directory}/notes`]) {
    await assert.rejects(harness.drills.journal(id), { code: 'unknown-drill' }, id);
  }
});

test('when the directory cannot be written, the drill continues, its report stays in memory, and one event says so', async (t) => {
  const directory = join(temporaryFolder(t), 'file');
  await writeFile(directory, '');
  const harness = createDrillHarness(t, { directory });
  const journal = await harness.run(QUICK);
  await harness.drills.close();
  assert.equal(journal.verdict?.kind, 'passed');
  assert.equal((await harness.drills.journal(journal.id)).samples.length, journal.samples.length);
  assert.equal(harness.events.filter(({ kind }) => kind === 'drill-unwritten').length, 1);
});

test('without a directory the latest few reports are kept in memory', async (t) => {
  const harness = createDrillHarness(t);
  for (let n = 0; n < 10; n += 1) {
    await harness.run(QUICK);
    harness.clock.advance(1000);
  }
  assert.equal((await harness.drills.list()).drills.length, 8);
});

test('a journal of an older version is listed, shown and resumed, without its single figures', async (t) => {
  const directory = temporaryFolder(t);
  const harness = createDrillHarness(t, { directory });
  const { id } = await harness.start(planOf());
  harness.onTick = ({ state }) => {
    if (state.kind === 'running' && state.phase === 'stage')
      void harness.drills.abort(id, { by: 'anna', reason: 'enough' });
  };
  const { learned, plan, ...journal } = await harness.end(id);
  await harness.close();
  const old = {
    ...journal,
    plan: { ...plan, guards: plan.guards.map(({ follows: _, ...guard }) => guard) },
    learned: learned.map(({ survival: _, ...one }) => {
      return { ...one, headroomLeft: 2.13, amplification: 6.27, survivable: 0.243 };
    }),
  };
  await writeFile(join(directory, `${id}.json`), encodeRecord(old));
  const next = createDrillHarness(t, { directory, reportPage });
  assert.deepEqual(
    (await next.drills.list()).drills.map(({ verdict }) => verdict?.kind),
    ['aborted'],
  );
  const page = await next.drills.page(id);
  assert.match(page, /of an older version/);
  assert.doesNotMatch(page, /24\.3|6\.27/);
  const resumed = await next.end((await next.drills.resume(id, { by: 'anna', reason: 'on' })).id);
  assert.equal(resumed.verdict?.kind, 'passed', resumed.verdict?.detail ?? 'no verdict');
});

const { verdict, endedAtMs, ...begun } = { ...journalOf(), samples: [], owner: 'owner' };
const HEAD: Journal = begun;
const RUNNING: Journal['state'] = { kind: 'running', phase: 'hold', domain: 'goods', stage: 0 };

/** Drills as the process `other` sees them; `head` and `isLive` are what the owner has stored. */
function scene(t: TestContext) {
  const clock = createFakeClock();
  const stored = { head: { ...HEAD, state: RUNNING } as Journal, isLive: true };
  const overlay = { drill: HEAD.id, owner: 'owner' } as Overlay;
  const control = {
    overlay: () => (stored.isLive ? overlay : undefined),
    reports: async () => new Map([[HEAD_REPORT, structuredClone(stored.head)]]),
  } as Partial<DrillDomain['control']> as DrillDomain['control'];
  const remote = createRemoteDrills({ domains: [{ name: 'goods', control }], processId: 'other', clock });
  t.after(remote.close);
  const seen = async (): Promise<Journal | undefined> => {
    await remote.refresh();
    return remote.heads()[0];
  };
  return { clock, stored, seen };
}

test('a drill that another process ended is ending until its owner reports the verdict, and then has this verdict', async (t) => {
  const { clock, stored, seen } = scene(t);
  assert.equal((await seen())?.state.kind, 'running');
  stored.isLive = false;
  stored.head = { ...HEAD, state: { kind: 'ending' } };
  for (const waitMs of [0, 2000, HEAD.plan.afterMs]) {
    clock.advance(waitMs);
    const { state, verdict } = (await seen()) ?? {};
    assert.deepEqual({ kind: state?.kind, verdict }, { kind: 'ending', verdict: undefined });
  }
  stored.head = { ...HEAD, state: { kind: 'over' }, endedAtMs: 1, verdict: { kind: 'aborted', detail: 'enough' } };
  assert.equal((await seen())?.verdict?.kind, 'aborted');
});

test('a drill whose owner dies is lost at once while it runs, and when the verdict is overdue while it ends', async (t) => {
  const { clock, stored, seen } = scene(t);
  await seen();
  stored.isLive = false;
  assert.equal((await seen())?.verdict?.kind, 'lost');
  stored.head = { ...HEAD, state: { kind: 'ending' } };
  assert.equal((await seen())?.verdict, undefined);
  clock.advance(HEAD.plan.afterMs + 5000);
  assert.equal((await seen())?.verdict?.kind, 'lost');
});
