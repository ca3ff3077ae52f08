import { EXIT } from '../../src/commands/arguments.ts';
import { DEFAULTS, type Inputs, MEASURED } from '../../src/operations/capacity/inputs.ts';
import { hitRatioOf, zipfGroups } from '../../src/operations/capacity/popularity.ts';
import { type Known, quantitiesOf } from '../../src/operations/capacity/quantities.ts';
import { amountText, bytesText, durationText, percentText, perSecondText, timesText } from '../../src/report/format.ts';
import { verdictOf } from '../labs/kit/claims.ts';
import type { Claim, Finding } from '../labs/kit/finding.ts';
import { tableOf } from './rehearse.ts';

/** The figures of a run; `cores` are of both processes, `connections` of the shard with the most. */
export type Measured = Readonly<
  Record<
    | 'rate'
    | 'hitRatio'
    | 'memoryRatio'
    | 'engineLoad'
    | 'engineCapacity'
    | 'cores'
    | 'memoryHitUs'
    | 'storeHitUs'
    | 'missUs'
    | 'memoryEntryBytes'
    | 'storedEntryBytes'
    | 'pages'
    | 'commands'
    | 'bytesFromStore'
    | 'coresOfStore'
    | 'connections'
    | 'amplification'
    | 'refillMs'
    | 'pageBytes'
    | 'residentBytes',
    number
  >
>;

export interface ComparedRow {
  readonly what: string;
  readonly predicted: number;
  readonly measured: number;
  readonly text: (value: number) => string;
  /** Why this row may be further off, and how far measured ÷ predicted may be. */
  readonly known?: { readonly why: string; readonly least: number; readonly most: number };
}

const WITHIN = 0.3;

const OTHER_HOUR = {
  why: 'an absolute time of a shared machine, which is up to twice as fast or slow in another hour',
  least: 0.5,
  most: 2,
};

/** @param popularity of the load that was sent; the hit ratio that follows from it is compared, too. */
export function comparedRows(
  inputs: Inputs,
  popularity: { readonly keys: number; readonly exponent: number },
  measured: Measured,
): readonly ComparedRow[] {
  const values = Object.entries({ ...DEFAULTS, ...inputs }).map(([name, { value }]) => [name, value]);
  const known = Object.fromEntries(values) as Known;
  const q = quantitiesOf(known);
  const traffic = { groups: zipfGroups(popularity.keys, popularity.exponent), rate: known.rate };
  const us = (value: number): string => `${amountText(value)} µs`;
  const cores = (value: number): string => `${amountText(value)} cores`;
  const { memoryHit, storeHit, miss } = MEASURED.fullUs;
  const row = (
    what: string,
    text: ComparedRow['text'],
    predicted: number | undefined,
    found: number,
    expected?: ComparedRow['known'],
  ): ComparedRow => ({
    what,
    text,
    predicted: predicted ?? Number.NaN,
    measured: found,
    ...(expected === undefined ? {} : { known: expected }),
  });
  return [
    row('hit ratio, from keys and exponent alone', percentText, hitRatioOf(traffic, known.ttlMs), measured.hitRatio),
    row('share of searches from L1', percentText, q.memoryRatio, measured.memoryRatio),
    row('engine load', perSecondText, q.engineLoad, measured.engineLoad),
    row('processor time of an L1 hit, full process', us, memoryHit, measured.memoryHitUs, OTHER_HOUR),
    row('processor time of an L2 hit, full process', us, storeHit, measured.storeHitUs, OTHER_HOUR),
    row('processor time of a miss', us, miss, measured.missUs, OTHER_HOUR),
    row('processors of all processes', cores, q.cores, measured.cores, OTHER_HOUR),
    row('resident memory of a process', bytesText, q.processBytes, measured.residentBytes),
    row('one page in L1, as it is charged', bytesText, q.memoryEntry, measured.memoryEntryBytes),
    row('one page in the store', bytesText, q.storedEntry, measured.storedEntryBytes),
    row('pages in the store', amountText, q.pages, measured.pages),
    row('store commands', perSecondText, q.commands, measured.commands),
    row('bytes from the store', (value) => `${bytesText(value)}/s`, q.bytesFromStore, measured.bytesFromStore),
    row('processors of all shards', cores, q.coresOfStore, measured.coresOfStore, {
      why: 'a bound: the cost is that of six nodes beside k6, with larger pages',
      least: 0.4,
      most: 1,
    }),
    row('connections of a shard', amountText, q.connections, measured.connections),
    row('amplification in the first second', timesText, q.amplification, measured.amplification),
    row('refill after a total loss', durationText, q.refillMs, measured.refillMs),
  ];
}

export function isMet(row: ComparedRow): boolean {
  return isNear(row) || isExplained(row);
}

function isNear({ predicted, measured }: ComparedRow): boolean {
  const ratio = measured / predicted;
  return ratio >= 1 - WITHIN && ratio <= 1 + WITHIN;
}

function isExplained({ predicted, measured, known }: ComparedRow): boolean {
  const ratio = measured / predicted;
  return known !== undefined && ratio >= known.least && ratio <= known.most;
}

export function statusOf(rows: readonly ComparedRow[]): number {
  return rows.every(isMet) ? EXIT.passed : EXIT.failed;
}

function cellsOf(row: ComparedRow): readonly [string, string, string, string] {
  const { what, predicted, measured, text, known } = row;
  const verdict = isNear(row) ? 'within 30 %' : isExplained(row) ? known?.why : 'NO';
  return [what, text(predicted), text(measured), `${timesText(measured / predicted)}: ${verdict}`];
}

export function rowsText(rows: readonly ComparedRow[]): string {
  return tableOf(['figure', 'predicted', 'measured', 'measured ÷ predicted'], rows.map(cellsOf));
}

/** The table as a section of a page. */
export function tableFinding(rows: readonly ComparedRow[], about: string): Finding {
  const claims: readonly Claim[] = [
    {
      text: 'figures further off without a reason',
      figure: rows.filter((row) => !isMet(row)).length,
      unit: 'count',
      atMost: 0,
      isRequired: true,
    },
    { text: 'figures', figure: rows.length, unit: 'count' },
  ];
  return {
    ...{
      name: 'plan-check',
      title: 'The plan beside a measured stack',
      published: '',
      claims,
      verdict: verdictOf(claims),
    },
    sentence: 'The sheet predicts a small stack from its traffic, within the stated bounds.',
    notes: [
      `${about}; two processes, a Redis cluster of three, a control store, searchd and the load on the same processors.`,
      'Rate, hit ratio and engine latency are read off the stack before the judged window, page size and engine capacity before that: an operator gives them, too. All other constants are of earlier records.',
    ],
    tables: [
      {
        title: 'Predicted and measured',
        columns: ['predicted', 'measured', 'measured ÷ predicted'].map((name) => ({ name, unit: 'text' as const })),
        rows: rows.map((row) => {
          const [name, ...values] = cellsOf(row);
          return { name, values };
        }),
      },
    ],
    charts: [],
  };
}
