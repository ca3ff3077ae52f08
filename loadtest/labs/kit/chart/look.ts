import { AREAS, type Ink, LINES, readableOn } from '../../../../src/report/palette.ts';
import type { Chart, Series } from '../finding.ts';

/** How one series is drawn: as a bar, as a line with its points, and in the legend. */
export interface Look {
  /** Its colour, as a class. */
  readonly style: string;
  readonly isStriped: boolean;
  /** SVG path data of a point around 0, 0. */
  readonly point: string;
  /** Published by others: hollow and dashed, whatever its colour. */
  readonly isHollow: boolean;
}

/** At least 3 : 1 on the ground, and each lighter or darker than the one before: bars side by side do without their hue. */
export const INKS: readonly Ink[] = [
  LINES.control,
  AREAS.lifeboat,
  AREAS.unanswered,
  AREAS.failed,
  AREAS.engine,
  AREAS.collapsed,
  AREAS.shed,
  AREAS['hit-l2'],
];
/** From here on bars are striped: a lightness comes again. */
const STRIPED_FROM = 4;
const POINTS: readonly string[] = [
  'M-4.4 0a4.4 4.4 0 1 0 8.8 0a4.4 4.4 0 1 0-8.8 0z',
  'M-4-4h8v8h-8z',
  'M0-5.400L5 3.800h-10z',
  'M0-5.600L5.600 0L0 5.600L-5.600 0z',
  'M0 5.400L5-3.800h-10z',
  'M-1.700-5.200h3.400v3.500h3.500v3.400h-3.500v3.500h-3.400v-3.500h-3.500v-3.400h3.500z',
  'M-4.800-4.600h9.600l-9.600 9.200h9.600z',
  'M-2.500-4.800h5l2.800 4.800l-2.800 4.800h-5l-2.800-4.800z',
];

/** A look for each series. Where as many were published as were measured, the first is beside the first, in its colour. */
export function looksOf({ series }: Chart): readonly Look[] {
  const published = series.filter(isPublished);
  const isPaired = published.length * 2 === series.length;
  return series.map((one, at) => {
    const own = isPaired ? series.filter((other) => isPublished(other) === isPublished(one)).indexOf(one) : at;
    return lookOf(own % INKS.length, isPublished(one));
  });
}

function lookOf(at: number, isHollow: boolean): Look {
  return { style: `s${at}`, isStriped: at >= STRIPED_FROM, point: POINTS[at] ?? '', isHollow };
}

/** In a legend and in words: what was published says so. */
export function seriesName({ name, isPublished }: Series): string {
  return isPublished && !/publish/i.test(name) ? `${name} (published)` : name;
}

function isPublished(series: Series): boolean {
  return series.isPublished === true;
}

/** The colours of all looks, and what is written on them. */
export function inkStyle(): string {
  return INKS.map(({ light }, at) => `.s${at}{--own:${light};--on:${readableOn(light)}}`).join('\n');
}
