import { setTimeout as sleep } from 'node:timers/promises';
import { start, until } from './drill.ts';
import { percent } from './figure.ts';
import { hitRatio } from './load.ts';
import { answersSince, atLastStage, engineRate, firstHits, plant, replicaAt, type Scene } from './scene.ts';

const PLANTED = 20;
const RATE_OVER_MS = 5000;

/** Aborted when everything is flushed: the warm cache must be there again, untouched. */
export const aborted: Scene = async (stage) => {
  const { bed, load } = stage;
  const scene = 'aborted at 100 %';
  const owner = replicaAt(bed, 0);
  // Whoever looks whether they are gone has them computed: those that are to come back are not looked at before.
  const gone = await plant(stage, PLANTED, 7);
  const untouched = await plant(stage, PLANTED, 8);
  const callsBefore = await engineRate(bed, RATE_OVER_MS);
  const before = hitRatio(load.answers.slice(-1000));
  const { id } = await start(owner, bed, stage.plan);
  await until(owner, id, 'the last stage', atLastStage);
  await sleep(2000);
  const flushed = 1 - (await firstHits(stage, gone, [1]));

  // From another replica than its owner's: whoever is at hand must be able to end it.
  const elsewhere = replicaAt(bed, 2);
  const abortedAtMs = load.nowMs();
  await elsewhere.admin.post(`/admin/drills/${id}/abort`, { reason: 'rehearsal' });
  const tookMs = load.nowMs() - abortedAtMs;
  await sleep(Math.max(0, 1000 - tookMs));
  const first = await firstHits(stage, untouched);
  const backSinceMs = load.nowMs();
  const callsAfter = await engineRate(bed, RATE_OVER_MS);
  const after = hitRatio(await answersSince(load, backSinceMs, 1000));
  return [
    { scene, what: 'taken away at 100 %', value: percent(flushed), target: 'nearly all', met: flushed >= 0.9 },
    {
      scene,
      what: 'first request on each replica 1 s after it hits',
      value: percent(first),
      target: '100 %',
      met: first === 1,
    },
    {
      scene,
      what: 'hit ratio of the next 1,000 requests',
      value: `${percent(after)}, before ${percent(before)}`,
      target: 'within 2 points',
      met: after >= before - 0.02,
    },
    {
      scene,
      what: 'engine calls a second',
      value: `${callsAfter.toFixed(1)}, before ${callsBefore.toFixed(1)}`,
      target: 'no refill',
      met: callsAfter <= 1.5 * callsBefore + 2,
    },
    { scene, what: 'the abort itself', value: `${Math.round(tookMs)} ms`, target: 'below 1 s', met: tookMs < 1000 },
  ];
};
