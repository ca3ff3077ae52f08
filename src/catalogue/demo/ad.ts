import type { Language } from './phrase.ts';
import type { Random } from './random.ts';

/** An ad before it gets its id and its date. */
export interface Draft {
  readonly title: string;
  readonly description: string;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** About one ad in six is in English, as on a site that foreigners use too. */
export function languageOf(random: Random): Language {
  return random.chance(0.17) ? 'en' : 'ru';
}

/** Prices as people write them: fewer digits the dearer the thing, sometimes «…990». */
export function roundPrice(price: number, random: Random): number {
  const step = price < 1000 ? 50 : price < 10_000 ? 100 : price < 100_000 ? 500 : price < 1_000_000 ? 5000 : 50_000;
  const rounded = Math.max(step, Math.round(price / step) * step);
  if (price >= 2000 && price < 100_000 && random.chance(0.2)) return Math.ceil(rounded / 1000) * 1000 - 10;
  return rounded;
}

/** The newest ad; fixed, so that the catalogue is the same whenever it is made. */
export const LAST_DAY = '2026-11-20';
export const DAYS = 180;
const DAY_MS = 86_400_000;

/** `YYYY-MM-DD` within the window, the newer the likelier: old ads sell and vanish. */
export function dateOf(random: Random): string {
  const share = random.next();
  const daysAgo = Math.floor(DAYS * share * (0.35 + 0.65 * share));
  return new Date(Date.parse(`${LAST_DAY}T00:00:00Z`) - daysAgo * DAY_MS).toISOString().slice(0, 10);
}

/** People who type in a hurry: small letters, «е» for «ё». */
export function hurried(title: string, random: Random): string {
  return random.chance(0.07) ? title.toLowerCase().replaceAll('ё', 'е') : title;
}
