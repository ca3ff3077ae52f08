import type { DrillPhase } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { stageName } from './stage-name.ts';
import type { Stretch, Track } from './track.ts';

/** A stretch of one phase, and of one stage where the phase has stages. */
export interface Segment {
  readonly fromMs: number;
  readonly toMs: number;
  readonly phase: DrillPhase;
  readonly stage: number;
  readonly name: string;
  readonly stretches: readonly Stretch[];
}

export function segmentsOf(track: Track, plan: Plan): readonly Segment[] {
  const groups: Stretch[][] = [];
  for (const stretch of track.runs.flat()) {
    const current = groups[groups.length - 1];
    const before = current?.[0];
    if (before !== undefined && isSame(before, stretch)) current?.push(stretch);
    else groups.push([stretch]);
  }
  return groups.flatMap((stretches) => {
    const [first, last] = [stretches[0], stretches[stretches.length - 1]];
    if (first === undefined || last === undefined) return [];
    const { phase, stage } = first.sample;
    return [{ fromMs: first.fromMs, toMs: last.toMs, phase, stage, name: nameOf(plan, phase, stage), stretches }];
  });
}

function isSame(a: Stretch, b: Stretch): boolean {
  return a.sample.phase === b.sample.phase && (a.sample.stage === b.sample.stage || !hasStages(a.sample.phase));
}

function hasStages(phase: DrillPhase): boolean {
  return phase === 'stage' || phase === 'hold';
}

function nameOf(plan: Plan, phase: DrillPhase, stage: number): string {
  switch (phase) {
    case 'stage':
      return stageName(plan, stage);
    case 'hold':
      return 'on hold';
    case 'baseline':
    case 'recovery':
    case 'after':
      return phase;
  }
}
