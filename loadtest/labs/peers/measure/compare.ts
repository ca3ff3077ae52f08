import { FIGURES, type Figure } from './figures.ts';
import { noiseOf } from './noise.ts';
import { isOurs, type Outcome } from './outcome.ts';

/** One peer against serpcache in one figure. */
export interface Compared {
  readonly figure: Figure;
  readonly peer: string;
  readonly theirs: number;
  readonly oursName: string;
  readonly ours: number;
  readonly ahead: 'peer' | 'serpcache' | 'neither';
  /** How many times better whoever is ahead is. Undefined where one of both is nothing, or never came. */
  readonly factor: number | undefined;
  /** What is not further apart is level: a factor, of shares a difference. */
  readonly noise: number;
}

/** Every figure that both have of what both have in the same place, of every peer; nothing of serpcache with itself. */
export function compareAll(outcomes: readonly Outcome[], figures: readonly Figure[] = FIGURES): readonly Compared[] {
  return figures.flatMap((figure) =>
    outcomes.flatMap((outcome) => {
      if (isOurs(outcome)) return [];
      const oursName = figure.ours(outcome);
      const own = outcomes.find(({ peer }) => peer.name === oursName);
      const [theirs, ours] = [figure.of(outcome), own === undefined ? undefined : figure.of(own)];
      if (own === undefined || theirs === undefined || ours === undefined) return [];
      if (figure.isFromStore?.(outcome) !== figure.isFromStore?.(own)) return [];
      const noise = noiseOf(figure, [outcome, own], outcomes.filter(isOurs));
      return [compare({ figure, peer: outcome.peer.name, theirs, oursName, ours, noise })];
    }),
  );
}

function compare(given: Omit<Compared, 'ahead' | 'factor'>): Compared {
  const { figure, theirs, ours, noise } = given;
  const [more, less] = [Math.max(theirs, ours), Math.min(theirs, ours)];
  const isNoise = figure.unit === 'share' ? more - less <= noise : less > 0 && more / less <= noise;
  const isLevel = more === less || more - less < (figure.resolution ?? 0) || isNoise;
  const isPeer = figure.better === 'more' ? theirs > ours : theirs < ours;
  return {
    ...given,
    ahead: isLevel ? 'neither' : isPeer ? 'peer' : 'serpcache',
    factor: less > 0 && Number.isFinite(more) ? more / less : undefined,
  };
}
