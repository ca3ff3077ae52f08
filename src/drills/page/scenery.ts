import type { Band, Moment } from '../../report/plot/background.ts';
import type { DrillPhase, Mark } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { segmentsOf } from './segments.ts';
import type { Track } from './track.ts';

/** What every plot of a domain has behind and across it: the phases, and the moments that count. */
export interface Scenery {
  readonly bands: readonly Band[];
  readonly moments: readonly Moment[];
}

/** A guard that breaks every second would hide the curves; the timeline has them all. */
const MAX_MOMENTS = 40;

export function sceneryOf(track: Track, plan: Plan): Scenery {
  const bands = segmentsOf(track, plan).map((segment): Band => {
    const { fromMs, toMs, name, phase, stage } = segment;
    return { fromMs, toMs, name, style: bandStyle(phase, stage) };
  });
  const moments = track.marks.flatMap(momentOf);
  // What ended the drill comes last and must be among them.
  return { bands, moments: moments.length > MAX_MOMENTS ? moments.slice(-MAX_MOMENTS) : moments };
}

/** Neighbouring stages differ in tint. */
function bandStyle(phase: DrillPhase, stage: number): string {
  return phase === 'stage' ? `phase-stage-${stage % 2 === 0 ? 'even' : 'odd'}` : `phase-${phase}`;
}

function momentOf(mark: Mark): readonly Moment[] {
  switch (mark.kind) {
    case 'guard':
      return [{ atMs: mark.atMs, style: mark.then === 'continue' ? 'noted' : 'broken', shape: 'cross' }];
    case 'restored':
      return [{ atMs: mark.atMs, style: 'restored', shape: 'diamond' }];
    case 'recovered':
      return [{ atMs: mark.atMs, style: 'recovered', shape: 'disc' }];
    case 'phase':
    case 'stage':
    case 'guard-holds':
      return [];
  }
}
