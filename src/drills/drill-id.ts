import type { Plan } from './plan.ts';

/** Of every drill, whoever started it: what is no such word becomes no file name and is no journal's. */
export const DRILL_ID = /^[0-9]{8}-[0-9]{6}-[a-z0-9_-]{1,200}$/;

export interface DrillName {
  readonly plan: Pick<Plan, 'name'>;
  readonly domain: string;
  readonly wallMs: number;
  readonly random: () => number;
}

/** `20261121-064348-goods-canary-x7q2`: sorts by time, safe as a file name. */
export function drillId({ plan, domain, wallMs, random }: DrillName): string {
  const [day = '', time = ''] = new Date(wallMs).toISOString().replaceAll(/[-:]/g, '').split('T');
  const safe = domain
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .slice(0, 64);
  // Two processes may start one within a second.
  const word = Math.floor(random() * 36 ** 4).toString(36);
  return `${day}-${time.slice(0, 6)}-${safe}-${plan.name}-${word.padStart(4, '0')}`;
}
