import { outcomeOf, type Verdict } from './tries.ts';

const WIDTHS = [20, 8, 7, 6, 6, 6, 9, 20, 16, 8, 7, 7] as const;
const HEAD = [
  'row',
  'verdict',
  'reqs',
  'wrong',
  'hung',
  '5xx',
  'no page',
  'hit ratio b/f/s',
  'p95 ms b/f/s',
  'per key',
  'RSS',
  'back s',
];

const SHOWN = { red: 'RED', invalid: 'INVALID', green: 'green' } as const;

export function tableHead(): string {
  return line(HEAD);
}

/** `b/f/s`: before, while the fault lasts, once recovered. `no page`: of the searches while it lasts. */
export function tableLine(whole: Verdict): string {
  const { name, report } = whole;
  const verdict = SHOWN[outcomeOf(whole)];
  if (report === undefined) return line([name, verdict]);
  const { before, fault, after, steady } = report.subject;
  const phases = [before, fault, after, steady];
  const refused = phases
    .flatMap(({ outcomes }) => Object.entries(outcomes))
    .filter(([label]) => label.startsWith('shed '))
    .reduce((sum, [, count]) => sum + count, 0);
  const three = (value: (phase: typeof before) => string): string => [before, fault, steady].map(value).join(' ');
  return line([
    name,
    verdict,
    `${phases.reduce((sum, phase) => sum + phase.requests, 0)}`,
    `${report.wrong.length}`,
    `${report.hung}`,
    `${refused}`,
    percent(fault.unanswered),
    three(({ hitRatio }) => percent(hitRatio)),
    three(({ p95Ms }) => number(p95Ms)),
    (report.engine.searches / Math.max(1, report.engine.distinct)).toFixed(2),
    `${Math.round(report.peakRssBytes / 2 ** 20)}M`,
    report.recoveredAfterMs === undefined ? '–' : (report.recoveredAfterMs / 1000).toFixed(1),
  ]);
}

function line(cells: readonly string[]): string {
  return cells
    .map((cell, at) => cell.padEnd(WIDTHS[at] ?? 8))
    .join(' ')
    .trimEnd();
}

const percent = (value: number): string => (Number.isNaN(value) ? '–' : `${Math.round(value * 1000) / 10}%`);
const number = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(value < 10 ? 1 : 0));
