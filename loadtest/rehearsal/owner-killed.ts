import { setTimeout as sleep } from 'node:timers/promises';
import { CLOCKS_AHEAD_MS } from './bed.ts';
import { controlOf, start, until } from './drill.ts';
import { percent } from './figure.ts';
import { atLastStage, firstHits, plant, replicaAt, type Scene } from './scene.ts';

const PLANTED = 20;
const LEASE_MS = 3000;

/** Whoever ran the drill dies without a word; the others, whose clocks are wrong by five seconds either way, go back. */
export const ownerKilled: Scene = async (stage) => {
  const { bed, load } = stage;
  const scene = 'owner killed';
  const owner = replicaAt(bed, 1);
  const planted = await plant(stage, PLANTED, 9);
  const { id } = await start(owner, bed, stage.plan);
  await until(owner, id, 'the last stage', atLastStage);
  await sleep(2000);
  const others = [0, 2];
  const flushed = await Promise.all(others.map(async (at) => (await controlOf(replicaAt(bed, at), bed)).drill));
  const killedAtMs = load.nowMs();
  await owner.kill();
  const backMs = await Promise.all(
    others.map(async (at) => {
      while ((await controlOf(replicaAt(bed, at), bed)).drill !== undefined) {
        if (load.nowMs() - killedAtMs > 60_000) return Number.POSITIVE_INFINITY;
        await sleep(20);
      }
      return load.nowMs() - killedAtMs;
    }),
  );
  const first = await firstHits(stage, planted, others);
  await owner.start();
  const worst = Math.max(...backMs);
  const clocks = CLOCKS_AHEAD_MS.map((ms) => `${ms / 1000} s`).join(', ');
  return [
    {
      scene,
      what: `others back after (clocks ahead by ${clocks})`,
      value: backMs.map((ms) => `${(ms / 1000).toFixed(2)} s`).join(', '),
      target: `lease + 1 s = ${(LEASE_MS + 1000) / 1000} s`,
      met: worst <= LEASE_MS + 1000 && flushed.every((drill) => drill?.id === id && drill.flushed > 0.9),
    },
    { scene, what: 'first request on each of them hits', value: percent(first), target: '100 %', met: first === 1 },
  ];
};
