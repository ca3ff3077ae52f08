import { setTimeout as sleep } from 'node:timers/promises';
import { percentText, rangeText, timesText } from '../../src/report/format.ts';
import {
  atLastStage,
  CLOCKS_AHEAD_MS,
  controlOf,
  engineRate,
  type Harness,
  isOver,
  planNamed,
  replicaAt,
  startDrill,
  until,
} from './harness.ts';
import { answersSince, hitRatio, idsIn, type Load, type Probe } from './load.ts';
import { type Figure, percent, type Scenarios, say } from './rehearse.ts';

interface Rehearsal {
  readonly harness: Harness;
  readonly load: Load;
  readonly probe: Probe;
}

const PLAN = '1-5-25-100';
const PLANTED = 20;

async function completion({ harness, load }: Rehearsal): Promise<readonly Figure[]> {
  const owner = replicaAt(harness, 0);
  const sinceMs = performance.now();
  const { id } = await startDrill(owner, harness, PLAN);
  const journal = await until(owner, id, 'its end', isOver);
  const [learned] = journal.learned;
  const { survival } = learned ?? {};
  const during = load.answers.filter(({ sentMs }) => sentMs >= sinceMs);
  const unanswered = during.filter(({ result }) => result === 'refused' || result === 'broken').length;
  const page = await owner.admin.page(`/admin/drills/${id}/report`);
  for (const { title, before, lowest, end, refillMs, peakEngineCallsPerSecond } of learned?.stages ?? []) {
    const refill = refillMs === undefined ? 'not refilled' : `refilled in ${(refillMs / 1000).toFixed(1)} s`;
    const ratios = [before, lowest, end].map((ratio) => percent(ratio ?? Number.NaN)).join(' → ');
    say(`${title}: hit ratio ${ratios}, ${refill}, at most ${peakEngineCallsPerSecond.toFixed(0)} engine calls/s`);
  }
  say(`report: ${owner.adminUrl}/admin/drills/${id}/report`);
  const kind = journal.verdict?.kind ?? 'none';
  return [
    ['verdict', kind, 'passed', kind === 'passed'],
    [
      'searches unanswered during it',
      `${unanswered} of ${during.length} (${percent(hitRatio(during))} hits)`,
      'below 1 %',
      unanswered < during.length / 100,
    ],
    [
      'learned: amplification, headroom left, f*',
      [
        rangeText(survival?.amplification, timesText),
        rangeText(survival?.headroomLeft, timesText),
        rangeText(survival?.survivable, percentText),
      ].join(', '),
      'known',
      survival?.amplification !== undefined,
    ],
    ['report', `${Math.round(page.length / 1024)} KiB of HTML`, 'with plots', page.includes('<svg')],
  ];
}

const RATE_OVER_MS = 5000;

/** A drill is aborted when everything is flushed. The warm cache must be back, untouched. */
async function aborted({ harness, load, probe }: Rehearsal): Promise<readonly Figure[]> {
  const owner = replicaAt(harness, 0);
  // A search for a flushed entry computes it again, so the entries that must come back are a set of their own.
  const gone = await probe.plant(PLANTED, 7);
  const untouched = await probe.plant(PLANTED, 8);
  const callsBefore = await engineRate(harness, RATE_OVER_MS);
  const before = hitRatio(load.answers.slice(-1000));
  const { id } = await startDrill(owner, harness, PLAN);
  await until(owner, id, 'the last stage', atLastStage);
  await sleep(2000);
  const flushed = 1 - (await probe.firstHits(gone, [1]));

  // Another replica than the drill's owner must be able to end it.
  const abortedAtMs = performance.now();
  await replicaAt(harness, 2).admin.post(`/admin/drills/${id}/abort`, { reason: 'rehearsal' });
  const tookMs = performance.now() - abortedAtMs;
  await sleep(Math.max(0, 1000 - tookMs));
  const first = await probe.firstHits(untouched);
  const backSinceMs = performance.now();
  const callsAfter = await engineRate(harness, RATE_OVER_MS);
  const after = hitRatio(await answersSince(load, backSinceMs, 1000));
  return [
    ['taken away at 100 %', percent(flushed), 'nearly all', flushed >= 0.9],
    ['first request on each replica 1 s after it hits', percent(first), '100 %', first === 1],
    [
      'hit ratio of the next 1,000 requests',
      `${percent(after)}, before ${percent(before)}`,
      'within 2 points',
      after >= before - 0.02,
    ],
    [
      'engine calls a second',
      `${callsAfter.toFixed(1)}, before ${callsBefore.toFixed(1)}`,
      'no refill',
      callsAfter <= 1.5 * callsBefore + 2,
    ],
    ['the abort itself', `${Math.round(tookMs)} ms`, 'below 1 s', tookMs < 1000],
  ];
}

const LEASE_MS = 3000;

/** The drill's owner is killed. The other replicas, whose clocks are wrong by five seconds either way, end the drill. */
async function ownerKilled({ harness, probe }: Rehearsal): Promise<readonly Figure[]> {
  const owner = replicaAt(harness, 1);
  const planted = await probe.plant(PLANTED, 9);
  const { id } = await startDrill(owner, harness, PLAN);
  await until(owner, id, 'the last stage', atLastStage);
  await sleep(2000);
  const others = [0, 2];
  const drillAt = async (at: number) => (await controlOf(replicaAt(harness, at), harness)).drill;
  const flushed = await Promise.all(others.map(drillAt));
  const killedAtMs = performance.now();
  await owner.kill();
  const backMs = await Promise.all(
    others.map(async (at) => {
      while ((await drillAt(at)) !== undefined) {
        if (performance.now() - killedAtMs > 60_000) return Number.POSITIVE_INFINITY;
        await sleep(20);
      }
      return performance.now() - killedAtMs;
    }),
  );
  const first = await probe.firstHits(planted, others);
  await owner.start();
  const clocks = CLOCKS_AHEAD_MS.map((ms) => `${ms / 1000} s`).join(', ');
  return [
    [
      `others back after (clocks ahead by ${clocks})`,
      backMs.map((ms) => `${(ms / 1000).toFixed(2)} s`).join(', '),
      `lease + 1 s = ${(LEASE_MS + 1000) / 1000} s`,
      Math.max(...backMs) <= LEASE_MS + 1000 && flushed.every((drill) => drill?.id === id && drill.flushed > 0.9),
    ],
    ['first request on each of them hits', percent(first), '100 %', first === 1],
  ];
}

/** Holds while the cache is warm, and cannot hold when a quarter of it is flushed. */
const BREACHED = { figure: 'engineRateFactor', max: 3, forMs: 0 } as const;

/** A guard breaks: the time from the breach to the restored cache, in the owner and in another replica. */
async function guardBroken({ harness }: Rehearsal): Promise<readonly Figure[]> {
  const owner = replicaAt(harness, 0);
  const ready = await planNamed(owner, PLAN);
  const ends = ready.guards.filter((guard) => guard.then === 'rollback').slice(0, 1);
  const plan = { ...ready, name: 'breach', guards: ends.map((guard) => ({ ...guard, ...BREACHED })) };
  const startedAtMs = performance.now();
  const { id } = await startDrill(owner, harness, plan);
  let sawMs = Number.NaN;
  let backMs = Number.NaN;
  const watch = (async () => {
    while (Number.isNaN(backMs) && performance.now() - startedAtMs < 180_000) {
      const { drill } = await controlOf(replicaAt(harness, 2), harness);
      if (drill !== undefined && drill.flushed > 0) sawMs = performance.now();
      else if (!Number.isNaN(sawMs)) backMs = performance.now();
      await sleep(20);
    }
  })();
  const { samples, marks, verdict } = await until(owner, id, 'its end', isOver);
  await watch;
  const broken = samples.findIndex(({ guards }) => guards.some((guard) => guard.broken));
  // It broke after the previous sample: the earliest possible time.
  const breachMs = samples[broken - 1]?.atMs ?? Number.NaN;
  const restoredMs = marks.find(({ kind }) => kind === 'restored')?.atMs ?? Number.NaN;
  const ownMs = restoredMs - breachMs;
  const otherMs = backMs - startedAtMs - breachMs;
  const seconds = (ms: number): string => (Number.isNaN(ms) ? 'never' : `${(ms / 1000).toFixed(2)} s`);
  const value = `${verdict?.kind}: ${verdict?.detail}`;
  const target = 'at most 2 s';
  return [
    ['verdict', value, 'failed', verdict?.kind === 'failed'],
    ['breach to rollback, in the owner', seconds(ownMs), target, ownMs <= 2000],
    ['and in another replica', seconds(otherMs), target, otherMs <= 2000],
  ];
}

const SEEN_MS = 5000;
const WATCHED_MS = 8000;

/** The most frequent document is suppressed. It must disappear from the answers, and nothing else may be flushed. */
async function suppressed({ harness, load }: Rehearsal): Promise<readonly Figure[]> {
  const counts = new Map<string, number>();
  load.onAnswer = ({ body }) => {
    for (const id of idsIn(body)) counts.set(id, (counts.get(id) ?? 0) + 1);
  };
  await sleep(SEEN_MS);
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  if (most === undefined) throw new Error('no document was seen');
  const [id, seen] = most;
  const before = hitRatio(load.answers.slice(-500));

  let lastSeenMs = Number.NEGATIVE_INFINITY;
  const askedAtMs = performance.now();
  load.onAnswer = ({ body, atMs }) => {
    if (idsIn(body).includes(id)) lastSeenMs = atMs;
  };
  const { admin } = replicaAt(harness, 0);
  const decision = { domain: harness.domain, ids: [id], reason: 'rehearsal' };
  await admin.post('/admin/suppress', decision);
  await sleep(WATCHED_MS);
  load.onAnswer = () => undefined;
  const ratio = hitRatio(await answersSince(load, askedAtMs + 2000, 500));
  await admin.post('/admin/unsuppress', decision);
  const goneMs = lastSeenMs - askedAtMs;
  return [
    [
      'asked to last seen',
      Number.isFinite(goneMs) ? `${Math.max(0, Math.round(goneMs))} ms` : 'never seen again',
      'at most 1 s',
      goneMs <= 1000,
    ],
    ['seen before', `${(seen / (SEEN_MS / 1000)).toFixed(1)} times a second`, 'often', seen > 10],
    ['hit ratio afterwards', `${percent(ratio)}, before ${percent(before)}`, 'within 5 points', ratio >= before - 0.05],
  ];
}

export const SCENARIOS: Scenarios<Rehearsal> = {
  completion: { title: 'completion', run: completion },
  abort: { title: 'aborted at 100 %', run: aborted },
  'owner-killed': { title: 'owner killed', run: ownerKilled },
  guard: { title: 'guard broken', run: guardBroken },
  suppress: { title: 'document suppressed', run: suppressed },
};
