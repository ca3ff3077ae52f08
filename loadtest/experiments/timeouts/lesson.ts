import { amountText, countText, durationText, percentText, timesText } from '../../../src/report/number-text.ts';
import type { Lesson } from '../../finding/finding.ts';
import type { Figures } from './figures.ts';

export interface Compared {
  /** The driver: its deadline closes the connection, or abandons the command. */
  readonly closes: Figures;
  readonly abandons: Figures;
  /** Abandoning, without a slow spell. */
  readonly calm: Figures;
}

/** Of two rounds on one machine, a difference smaller than this is noise. */
const LESS = 1.25;
/** Half: nobody would call it a cure otherwise. */
const MUCH_LESS = 2;
/** A store that loses more than this without a slow spell was overloaded before anything was varied. */
const CALM_LOST = 0.05;
/** Busier, and reconnecting takes what commands would have needed. */
const FULL = 0.85;
/** More, and the store was slow for a reason that is not in the experiment. */
const WAITED = 0.1;

/** Does keeping the connection cost less time than closing it, and does it need fewer connections? */
export function lessonOf({ closes, abandons, calm }: Compared): Lesson {
  const disturbed = disturbedText(Math.max(closes.waitedShare, abandons.waitedShare));
  if (calm.lostShare > CALM_LOST)
    return {
      holds: 'unseen',
      sentence: `It could not be seen here: without any slow spell ${percentText(calm.lostShare)} of the commands were lost already${disturbedText(calm.waitedShare)}.`,
    };
  const gain = closes.meanOfAllMs / Math.max(0.001, abandons.meanOfAllMs);
  const figures =
    `with connections kept a command took ${durationText(abandons.meanOfAllMs)} in the mean instead of ` +
    `${durationText(closes.meanOfAllMs)} (${timesText(gain)}), ${percentText(abandons.lostShare)} of them were lost instead of ` +
    `${percentText(closes.lostShare)}, and ${countText(abandons.opened)} connections were opened instead of ${countText(closes.opened)}`;
  const isFewer = closes.opened > 0 && abandons.opened * MUCH_LESS <= closes.opened;
  if (gain >= MUCH_LESS && isFewer) return { holds: 'yes', sentence: `It holds: ${figures}${disturbed}.` };
  if (gain >= LESS || isFewer)
    return { holds: 'partly', sentence: `It holds in part: ${figures}; ${whyLess(closes)}${disturbed}.` };
  return { holds: 'no', sentence: `It does not hold here: ${figures}; ${whyLess(closes)}${disturbed}.` };
}

function disturbedText(waitedShare: number): string {
  return waitedShare > WAITED ? `, and the store waited for its processor ${percentText(waitedShare)} of the time` : '';
}

function whyLess({ limit, storeCores, waitedShare, opened }: Figures): string {
  if (opened === 0) return 'no command was late enough to close anything';
  if (limit === 'generator' || limit === 'both') return 'the generator was full, so the store saw no more of it';
  // What it waited for its processor it had no room either.
  if (storeCores + waitedShare < FULL)
    return `the store had room for the connections it had to accept (${amountText(storeCores)} cores)`;
  return 'opening connections anew costs this store little beside its commands';
}
