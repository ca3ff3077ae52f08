import { setTimeout as sleep } from 'node:timers/promises';
import { controlOf, isOver, planNamed, start, until } from './drill.ts';
import { replicaAt, type Scene } from './scene.ts';

/** Holds while the cache is warm, and cannot hold when a quarter of it is flushed. */
const BREACHED = { figure: 'engineRateFactor', max: 3, forMs: 0 } as const;

/** A guard that breaks: how long from the breach to the restored cache, in the owner and in the others. */
export const guardBroken: Scene = async ({ bed, load, plan: name }) => {
  const scene = 'guard broken';
  const owner = replicaAt(bed, 0);
  const ready = await planNamed(owner, name);
  const ends = ready.guards.filter((guard) => guard.then === 'rollback').slice(0, 1);
  const plan = { ...ready, name: 'breach', guards: ends.map((guard) => ({ ...guard, ...BREACHED })) };
  const startedAtMs = load.nowMs();
  const { id } = await start(owner, bed, plan);
  let sawMs = Number.NaN;
  let backMs = Number.NaN;
  const other = replicaAt(bed, 2);
  const watch = (async () => {
    while (Number.isNaN(backMs) && load.nowMs() - startedAtMs < 180_000) {
      const { drill } = await controlOf(other, bed);
      if (drill !== undefined && drill.flushed > 0) sawMs = load.nowMs();
      else if (!Number.isNaN(sawMs)) backMs = load.nowMs();
      await sleep(20);
    }
  })();
  const journal = await until(owner, id, 'its end', isOver);
  await watch;
  const { samples, marks, verdict } = journal;
  const broken = samples.findIndex(({ guards }) => guards.some((guard) => guard.broken));
  // It broke at some moment after the sample before, at the earliest.
  const breachMs = samples[broken - 1]?.atMs ?? Number.NaN;
  const restoredMs = marks.find(({ kind }) => kind === 'restored')?.atMs ?? Number.NaN;
  const ownMs = restoredMs - breachMs;
  const elsewhereMs = backMs - startedAtMs - breachMs;
  const seconds = (ms: number): string => (Number.isNaN(ms) ? 'never' : `${(ms / 1000).toFixed(2)} s`);
  return [
    {
      scene,
      what: 'verdict',
      value: `${verdict?.kind}: ${verdict?.detail}`,
      target: 'failed',
      met: verdict?.kind === 'failed',
    },
    {
      scene,
      what: 'breach to rollback, in the owner',
      value: seconds(ownMs),
      target: 'at most 2 s',
      met: ownMs <= 2000,
    },
    {
      scene,
      what: 'and in another replica',
      value: seconds(elsewhereMs),
      target: 'at most 2 s',
      met: elsewhereMs <= 2000,
    },
  ];
};
