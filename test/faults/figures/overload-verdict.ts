import { ENGINE_DEADLINE_MS, PATIENCE_MS } from '../configuration.ts';
import { type FigureResult, measured, none } from './figure.ts';
import { keptUp, MOST_LAG_MS, shown } from './open-loop.ts';
import type { Overload } from './overload-run.ts';

/** One load on one limiter and one engine. */
export interface Cell extends Overload {
  readonly engine: string;
  readonly limiter: string;
  readonly load: number;
  /** Places at the end. */
  readonly maxConcurrent: number;
  /** Pages that were compared with what the engine says. */
  readonly compared: number;
  /** Those that are another. */
  readonly wrong: readonly string[];
}

export interface Part {
  readonly engine: string;
  /** Pages a second with as many clients as it has places, each asking again when answered. */
  readonly saturation: number;
  readonly cells: readonly Cell[];
}

/** Beyond the patience: the store's deadline (50 ms), and for a busy machine's timers. */
const SLACK_MS = 50 + 150;
const SHED_MS = ENGINE_DEADLINE_MS / 10;

/** @param ours the limiter that is promised something, on the narrow engine; everything else stands beside it. */
export function resultOf(narrow: Part, real: Part, ours: string): FigureResult {
  const own = narrow.cells.filter(({ limiter }) => limiter === ours);
  const saturated = Math.max(narrow.saturation, own.find(({ load }) => load === 1)?.good ?? 0);
  const every = [...narrow.cells, ...real.cells];
  const wrong = every.flatMap((cell) => cell.wrong);
  const lagMs = Math.max(...own.map((cell) => cell.lagMs));
  const faults = own.flatMap((cell) => cell.faults);
  const over = own.filter(({ load }) => load > 1);
  // Each load above the capacity must have refusals: a bound on the refusals of some loads says nothing of the others.
  const shedP99Ms = Math.max(...over.map((cell) => cell.shedP99Ms));
  const slowestMs = Math.max(...own.map(({ maxMs }) => maxMs));
  const answers = own.every(({ offered }) => offered > 0) ? own.length : 0;
  const compared = every.reduce((sum, cell) => sum + cell.compared, 0);
  return {
    table: [
      ...[narrow, real].flatMap((part) => [
        saturatedRow(part),
        ...part.cells.map((cell) => rowOf(cell, part.saturation)),
      ]),
    ],
    verdicts: [
      ...over.map(({ load, good }) => ({
        says: `${load} times the capacity: ${shown(good, 1)} good answers a second, at least 0.9 of the ${shown(saturated, 1)} of saturation`,
        holds: saturated > 0 ? measured(good, () => good >= 0.9 * saturated) : ('not measured' as const),
      })),
      {
        says: `p99 of refusals: ${shown(shedP99Ms)} ms, less than a tenth of the deadline (${SHED_MS} ms)`,
        holds: measured(shedP99Ms, (ms) => ms < SHED_MS),
      },
      {
        says: `slowest answer: ${shown(slowestMs)} ms, at most the patience and ${SLACK_MS} ms`,
        holds: measured(slowestMs, (ms) => ms <= PATIENCE_MS + SLACK_MS),
      },
      { says: `${wrong.length} wrong answers of ${compared} compared${example(wrong)}`, holds: none(wrong, compared) },
      { says: `${faults.length} answers nobody can act on${example(faults)}`, holds: none(faults, answers) },
      {
        says: `the generator kept up: p99 of its lateness ${shown(lagMs)} ms, at most ${MOST_LAG_MS}`,
        holds: keptUp(lagMs),
      },
    ],
  };
}

const example = ([first]: readonly string[]): string => (first === undefined ? '' : `, such as ${first}`);

function saturatedRow({ engine, saturation }: Part): FigureResult['table'][number] {
  const nothing = Object.fromEntries(COLUMNS.map((name) => [name, '–']));
  return { engine, limiter: 'places known', load: 'saturated', offered: '–', good: shown(saturation, 1), ...nothing };
}
const COLUMNS = [
  'of saturation',
  'places',
  'page p99 ms',
  'shed p99 ms',
  'shed max ms',
  'max ms',
  'no answer',
  'lag ms',
];

function rowOf(cell: Cell, saturation: number): FigureResult['table'][number] {
  return {
    engine: cell.engine,
    limiter: cell.limiter,
    load: `${cell.load}x`,
    offered: shown(cell.offered),
    good: shown(cell.good, 1),
    'of saturation': shown(cell.good / saturation, 2),
    places: cell.maxConcurrent,
    'page p99 ms': shown(cell.pageP99Ms),
    'shed p99 ms': shown(cell.shedP99Ms),
    'shed max ms': shown(cell.shedMaxMs),
    'max ms': shown(cell.maxMs),
    'no answer': cell.faults.length,
    'lag ms': shown(cell.lagMs),
  };
}
