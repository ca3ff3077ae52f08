import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from '../../src/operations/drills/journal.ts';
import type { Bed, Replica } from './bed.ts';
import type { Figure } from './figure.ts';
import type { Answered, Load } from './load.ts';
import type { Probe } from './probe.ts';

/** What every scene of the rehearsal plays on. */
export interface Stage {
  readonly bed: Bed;
  readonly load: Load;
  readonly probe: Probe;
  /** The name of the plan that all scenes run. */
  readonly plan: string;
  readonly say: (text: string) => void;
}

export type Scene = (stage: Stage) => Promise<readonly Figure[]>;

export function replicaAt({ replicas }: Bed, at: number): Replica {
  const replica = replicas[at];
  if (replica === undefined) throw new Error(`there is no replica ${at}`);
  return replica;
}

/** Waits for so many answers that were sent after `sinceMs`. */
export async function answersSince({ answers }: Load, sinceMs: number, count: number): Promise<readonly Answered[]> {
  const untilMs = performance.now() + 60_000;
  for (;;) {
    const found = answers.filter(({ sentMs }) => sentMs >= sinceMs);
    if (found.length >= count) return found.slice(0, count);
    if (performance.now() > untilMs) throw new Error(`${found.length} of ${count} answers came in a minute`);
    await sleep(100);
  }
}

/** Searches nobody else asks, each held by every replica: what happens to them is the drill's doing alone. */
export interface Planted {
  readonly texts: readonly string[];
  readonly limit: number;
}

/** Asked twice everywhere, so that each is in every L1 and in L2. @param limit another one for each scene. */
export async function plant({ bed, probe }: Stage, count: number, limit: number): Promise<Planted> {
  const texts = bed.queries.repeated.slice(0, count);
  for (let round = 0; round < 2; round += 1) {
    for (const text of texts) for (const at of bed.replicas.keys()) await probe.isHit(at, text, limit);
  }
  return { texts, limit };
}

/** The share of them that each of the replicas has at the first time of asking. */
export async function firstHits(
  { bed, probe }: Stage,
  { texts, limit }: Planted,
  replicas: readonly number[] = [...bed.replicas.keys()],
): Promise<number> {
  let hits = 0;
  for (const at of replicas) {
    const found = await Promise.all(texts.map((text) => probe.isHit(at, text, limit)));
    hits += found.filter(Boolean).length;
  }
  return hits / (texts.length * replicas.length);
}

/** All replicas together, since they started. */
export async function engineCalls({ replicas }: Bed): Promise<number> {
  const pages = await Promise.all(replicas.map(({ admin }) => admin.page('/metrics')));
  return pages
    .flatMap((page) => page.split('\n'))
    .filter((line) => line.startsWith('serpcache_engine_calls_total{'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Engine calls a second over so long. */
export async function engineRate(bed: Bed, ms: number): Promise<number> {
  const [before, startMs] = [await engineCalls(bed), performance.now()];
  await sleep(ms);
  return ((await engineCalls(bed)) - before) / ((performance.now() - startMs) / 1000);
}

/** The last stage has begun. */
export function atLastStage({ plan, marks }: Journal): boolean {
  return marks.some((mark) => mark.kind === 'stage' && mark.stage === plan.stages.length - 1);
}
