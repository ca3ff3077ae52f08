import { amountText, countText, durationText, percentText, timesText } from '../../../../src/report/format.ts';
import type { Lesson } from '../../kit/finding.ts';
import type { Figures } from './figures.ts';

export interface Compared {
  /** The driver: its deadline closes the connection, or abandons the command. */
  readonly closes: Figures;
  readonly abandons: Figures;
  /** Abandoning, without a slow spell. */
  readonly calm: Figures;
  /** The product's own adapter through the same spell, where it was measured. */
  readonly adapter?: {
    readonly shipped: Figures;
    readonly closes?: Figures;
    /** Of one adapter: each has a connection and a breaker of its own. */
    readonly perSecondEach: number;
  };
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

/** Share of the lost commands. With a lower share, the breaker explains little of the loss. */
const MOSTLY = 0.5;
/** The node breaker's rule on the share of failures needs this number of commands: MIN_VOLUME in src/stores/redis/node.ts. */
const MANY_PER_SECOND = 20;

/** Does keeping the connection cost less time than closing it, and does it need fewer connections? */
export function lessonOf(compared: Compared): Lesson {
  const { holds, sentence } = ofKeeping(compared);
  const own =
    compared.adapter === undefined || holds === 'unseen' ? '' : ` ${adapterWords(compared.adapter, compared)}`;
  return { holds, sentence: `${sentence}${own}` };
}

function ofKeeping({ closes, abandons, calm }: Compared): Lesson {
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

/** What the product makes of the same spell: nobody should take the driver's figures for its own. */
function adapterWords(
  { shipped, closes: closing, perSecondEach }: NonNullable<Compared['adapter']>,
  { closes, abandons }: Compared,
): string {
  const all = [closes, abandons].map(({ lostShare }) => lostShare);
  const place =
    shipped.lostShare > Math.max(...all)
      ? ', more than either'
      : shipped.lostShare > Math.min(...all)
        ? ', between both'
        : ', less than either';
  const other =
    closing === undefined ? '' : `, and ${percentText(closing.lostShare)} with a socket timeout of the deadline`;
  return `serpcache's own adapter lost ${percentText(shipped.lostShare)} as shipped${place}${other}${breakerWords(shipped, perSecondEach)}.`;
}

function breakerWords({ lostShare, unsentShare }: Figures, perSecondEach: number): string {
  if (lostShare === 0) return '';
  if (unsentShare === 0) return '; no breaker took part in that';
  const unsent = `${percentText(unsentShare)} of what it lost as shipped was given up by a breaker before it was sent`;
  if (unsentShare < MOSTLY) return `; ${unsent}, so the breaker is not most of it`;
  const few =
    perSecondEach < MANY_PER_SECOND
      ? `: each of its connections has a breaker of its own and ${amountText(perSecondEach)} commands a second, so a few that are late in a row open it, and a single probe has to be in time to close it`
      : '';
  return `; ${unsent}${few}`;
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
