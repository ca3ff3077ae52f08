import { percentText, pointsText } from '../../../../src/report/format.ts';
import type { Figure } from './figures.ts';
import type { Outcome } from './outcome.ts';

/** What is nearer is level on every machine. */
const LEAST = 1.05;

/**
 * How far apart one and the same thing was: rounds of either of both that are compared, and the rows of serpcache where
 * they differ in nothing. A factor; of shares the difference itself. @param ours all rows of serpcache
 */
export function noiseOf(figure: Figure, both: readonly Outcome[], ours: readonly Outcome[]): number {
  const alike = ours.flatMap((one) => (figure.isAlike?.(one) ? (figure.of(one) ?? []) : []));
  const [most, least] = [Math.max(...alike), Math.min(...alike)];
  const isPair = alike.length > 1 && most > least;
  if (figure.unit === 'share') return isPair ? most - least : 0;
  return Math.max(LEAST, isPair ? most / least : 1, ...both.map((one) => figure.spread?.(one) ?? 1));
}

/** What a reader has to know of every lead, with the figures in which the noise was more than the least. */
export function noiseWords(compared: readonly { readonly figure: Figure; readonly noise: number }[]): string {
  const told = [...Map.groupBy(compared, ({ figure }) => figure)].flatMap(([figure, some]) => {
    const all = some.map(({ noise }) => noise);
    const [least, most] = [Math.min(...all), Math.max(...all)].map((noise) => textOf(figure, noise));
    if (Math.max(...all) <= (figure.unit === 'share' ? 0 : LEAST)) return [];
    return [`${figure.what} ${least === most ? least : `${least} to ${most}`}`];
  });
  const words =
    'A lead counts when it is larger than the noise: what rounds of either of both differed by, and serpcache L1 and L2 ' +
    'where they are one thing (one page, after a purge, without an engine: all from the process); 5 % at least.';
  return told.length === 0 ? words : `${words} Here it was, by peer: ${told.join('; ')}.`;
}

function textOf({ unit }: Figure, noise: number): string {
  if (!Number.isFinite(noise)) return 'without end';
  return unit === 'share' ? pointsText(noise * 100) : percentText(noise - 1);
}
