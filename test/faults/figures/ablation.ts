import { DEFENCES, type Defence } from '../../../src/config/settings.ts';
import { measureWorth, type Scenario, type Worth } from './ablation-run.ts';
import { CROWD, DOWN, LATE, STANDARD } from './ablation-scenarios.ts';
import { type Figure, type FigureResult, measured, none } from './figure.ts';
import { startNarrowBed } from './narrow-bed.ts';
import { shown, unhurried } from './open-loop.ts';

const PROCESSES = 2;
const SEARCHES = 400;

/** Every defence in the standard scenario, and in one of its own where that does not show it. */
const PLAN: readonly { readonly scenario: Scenario; readonly without: readonly (readonly Defence[])[] }[] = [
  { scenario: STANDARD, without: [[], ...DEFENCES.map((one) => [one]), DEFENCES, []] },
  { scenario: CROWD, without: [[], ['coalescing'], ['lease'], ['coalescing', 'lease']] },
  { scenario: DOWN, without: [[], ['breaker'], ['ramp']] },
  { scenario: LATE, without: [[], ['late-pages']] },
];

/** Each defence left out in turn. */
export const ABLATION: Figure = {
  name: 'ablation',
  says: 'what each defence is worth: the same misfortune without it',
  run: async ({ checkout }) => {
    const bed = await startNarrowBed({ checkout, services: PROCESSES, searches: SEARCHES });
    try {
      const worths: Worth[] = [];
      for (const { scenario, without } of PLAN) {
        for (const left of without) worths.push(await unhurried(() => measureWorth(bed, scenario, left), 2));
      }
      return resultOf(worths);
    } finally {
      await bed.stop();
    }
  },
};

const percent = (part: number): string => (part * 100).toFixed(1);

export function resultOf(worths: readonly Worth[]): FigureResult {
  const whole = worths.filter(({ without }) => without.length === 0);
  const faults = whole.flatMap((worth) => worth.faults);
  const wrong = worths.flatMap((worth) => worth.wrong);
  // Each must have been asked something, and have given a page.
  const requests = Math.min(...whole.map((worth) => worth.requests));
  const pages = Math.min(...worths.map((worth) => worth.pages));
  const standard = worths.filter(({ scenario }) => scenario === STANDARD.name);
  const answered = (left: number): number =>
    Math.min(...standard.filter(({ without }) => without.length === left).map((worth) => worth.answered));
  const [all, bare] = [answered(0), answered(DEFENCES.length)];
  return {
    table: worths.map((worth) => ({
      scenario: worth.scenario,
      without: worth.without.length === DEFENCES.length ? 'all of them' : worth.without.join(', ') || '–',
      'answered %': percent(worth.answered),
      'hits %': percent(worth.hits),
      wrong: worth.wrong.length,
      'p50 ms': shown(worth.p50Ms),
      'p99 ms': shown(worth.p99Ms),
      'shed p99 ms': shown(worth.shedP99Ms),
      'engine searches': worth.engineSearches,
      'per key': shown(worth.perKey, 2),
      'most in flight': worth.mostInFlight,
      'back s': worth.recoveredMs === undefined ? '–' : shown(worth.recoveredMs / 1000, 1),
      'gap at the end, points': shown(100 * worth.gap, 1),
      'no answer': worth.faults.length,
      'lag ms': shown(worth.lagMs),
    })),
    verdicts: [
      {
        says: `${STANDARD.name}: ${percent(all)} % answered with every defence, ${percent(bare)} % with none`,
        holds: measured(all - bare, (more) => more > 0),
      },
      { says: `${wrong.length} wrong answers, whatever is left out${example(wrong)}`, holds: none(wrong, pages) },
      {
        says: `${faults.length} answers nobody can act on with every defence${example(faults)}`,
        holds: none(faults, requests),
      },
    ],
  };
}

const example = ([first]: readonly string[]): string => (first === undefined ? '' : `, such as ${first}`);
