import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, UsageError } from '../../src/commands/arguments.ts';
import { columns } from '../../src/commands/terminal.ts';
import { verdictOf } from '../labs/kit/claims.ts';
import type { Claim, Finding } from '../labs/kit/finding.ts';
import { originOf } from '../labs/kit/machine.ts';
import { publishFinding } from '../labs/kit/publish.ts';

/** A part of a rehearsal that can run alone. */
export interface Scenario<Parts> {
  readonly title: string;
  readonly run: (parts: Parts) => Promise<readonly Figure[]>;
}

/** By the names that `--only` takes, in the order in which they run. */
export type Scenarios<Parts> = Readonly<Record<string, Scenario<Parts>>>;

/** A measured value beside its target. */
export type Figure = readonly [what: string, value: string, target: string, isMet: boolean];

/** The figures of a rehearsal, by the title of their scenario, in the order in which they were measured. */
export type Figures = readonly (readonly [scenario: string, ...Figure])[];

/** Between two scenarios, so that the effects of one are not measured by the next. */
const REST_MS = 5000;

/** @param only some names, with commas between them; absent: all. @throws UsageError */
export function chosenNames(known: readonly string[], only: string | undefined): ReadonlySet<string> {
  const names = new Set(only?.split(',') ?? known);
  const unknown = names.difference(new Set(known));
  if (unknown.size === 0) return names;
  throw new UsageError(`--only takes some of ${known.join(', ')}, not "${[...unknown].join(', ')}"`);
}

export function chosenScenarios<Parts>(scenarios: Scenarios<Parts>, only: string | undefined): Scenarios<Parts> {
  const names = chosenNames(Object.keys(scenarios), only);
  return Object.fromEntries(Object.entries(scenarios).filter(([name]) => names.has(name)));
}

/** Runs the scenarios one after the other. @throws when one of them cannot be carried out */
export async function runScenarios<Parts>(scenarios: Scenarios<Parts>, parts: Parts) {
  const figures: (readonly [scenario: string, ...Figure])[] = [];
  for (const [name, { title, run }] of Object.entries(scenarios)) {
    console.log(`\n${name}`);
    for (const figure of await run(parts)) {
      const [what, value, target, isMet] = figure;
      say(`${what}: ${value} (${target}: ${isMet ? 'yes' : 'NO'})`);
      figures.push([title, ...figure]);
    }
    await sleep(REST_MS);
  }
  const rows = figures.map(([scenario, what, value, target, isMet]) => {
    return [scenario, what, value, target, isMet ? 'yes' : 'NO'];
  });
  return {
    table: columns(rows, ['scenario', 'figure', 'measured', 'target', 'met']),
    figures,
    /** `failed` when one figure missed its target. */
    exitCode: figures.every(([, , , , isMet]) => isMet) ? EXIT.passed : EXIT.failed,
  };
}

/** The figures as a section of a page: a table for each scenario. */
export function findingOf(figures: Figures, about: Pick<Finding, 'title' | 'sentence' | 'notes'>): Finding {
  const missed = figures.filter(([, , , , isMet]) => !isMet).length;
  const claims: readonly Claim[] = [
    { text: 'figures that missed their target', figure: missed, unit: 'count', atMost: 0, isRequired: true },
    { text: 'figures', figure: figures.length, unit: 'count' },
  ];
  const columns = ['measured', 'target', 'met'].map((name) => ({ name, unit: 'text' as const }));
  return {
    name: 'rehearsal',
    published: '',
    claims,
    verdict: verdictOf(claims),
    ...about,
    tables: [...Map.groupBy(figures, ([scenario]) => scenario)].map(([title, own]) => ({
      title,
      columns,
      rows: own.map(([, name, value, target, isMet]) => ({ name, values: [value, target, isMet ? 'yes' : 'no'] })),
    })),
    charts: [],
  };
}

const ROOT = join(import.meta.dirname, '../..');

/** The machine, the time and the commit, before a rehearsal begins. */
export function originHere(...servers: readonly string[]): ReturnType<typeof originOf> {
  return originOf(ROOT, ['node', ...servers]);
}

/** Writes a finding with its record into the page of a room. @param page from the root of the project */
export function publishMeasured(
  finding: Finding,
  command: string,
  origin: Awaited<ReturnType<typeof originOf>>,
  page: string,
): void {
  const tookSeconds = Math.round((Date.now() - Date.parse(origin.startedAt)) / 1000);
  publishFinding({ version: 2, finding, command, ...origin, tookSeconds }, join(ROOT, page));
}

export function say(text: string): void {
  console.log(`  ${text}`);
}

export function percent(ratio: number): string {
  return Number.isNaN(ratio) ? 'of nothing' : `${(100 * ratio).toFixed(1)} %`;
}
