import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SpellRun } from '../../../../loadtest/labs/experiments/timeouts/slow-shard.ts';
import { type Figures, figuresOf, timeouts, waitedShareOf } from '../../../../loadtest/labs/experiments/timeouts.ts';
import type { LabDriven } from '../../../../loadtest/labs/kit/driven.ts';
import { medianRun } from '../../../../loadtest/labs/kit/rounds.ts';
import { cellOf, type Found, figureOf } from './harness.ts';

const CALM = closing({ lostShare: 0, opened: 0 });

/** A cell of a row in the slow spell without TLS: the rows without a spell come first in the table. */
const cell = (all: Found, client: RegExp, column: RegExp) =>
  cellOf(all, /^Without TLS/, new RegExp(`^(?!no slow spell).*${client.source}`), column);
const [CLOSED, KEPT] = [/connection is closed/, /command is abandoned/];

function found(over: { closes?: Figures; abandons?: Figures; calm?: Figures; shipped?: Figures }): Found {
  const { closes = closing(), abandons = abandoning(), calm = CALM, shipped = abandoning() } = over;
  const rows = [
    { variant: 'closes', figures: closes },
    { variant: 'abandons', figures: abandons },
    { variant: 'adapter closes', figures: closing({ lostShare: 0.45 }) },
    { variant: 'adapter', figures: shipped },
  ] as const;
  const measured = { rows, calm: { closes: calm, abandons: calm }, neighbourShare: 0.3 };
  // The rows with TLS decide nothing: they are the opposite of a gain.
  const tls = { ...measured, rows: [rows[0], { ...rows[1], figures: closing() }] };
  return timeouts.findingOf({ plain: measured, tls });
}

test('it holds with half the time and half the connections, and the claims give the figures', () => {
  const all = found({});
  assert.equal(all.verdict, 'yes');
  assert.equal(figureOf(all, /^mean of all/), 4.1);
  assert.deepEqual(
    all.tables[0]?.rows.map(({ values }) => values[3]),
    [41, 41, 41, 10, 41, 10],
  );
  assert.equal(cell(all, KEPT, /^opened again/), 0);
  assert.equal(cell(all, CLOSED, /^opened again/), 6000);
});

test('a store that loses commands without a slow spell gives no result', () => {
  const all = found({ calm: closing({ lostShare: 0.3, waitedShare: 0.4 }) });
  assert.equal(all.verdict, 'unseen');
  const calmCell = (column: RegExp) => cellOf(all, /^Without TLS/, /^no slow spell: .* abandoned/, column);
  assert.equal(calmCell(/^lost/), 0.3);
  assert.equal(calmCell(/^store waited/), 0.4);
});

const second = (answered: number, failed: number) => ({ answered, failed });

function spell(over: Partial<LabDriven> = {}): SpellRun {
  const load: LabDriven = {
    seconds: 4,
    answered: 3000,
    perSecond: 750,
    latencyMs: { mean: 2, p50: 1, p95: 5, p99: 9, max: 12 },
    errors: { late: 600, broken: 300, refused: 0, unsent: 100, unconnected: 7 },
    unanswered: 0,
    connects: 0,
    receivedBytes: 0,
    processorSeconds: 1,
    watchedCores: [0.9],
    eachSecond: [second(1000, 0), second(500, 500), second(500, 500), second(1000, 0)],
    storeCores: 0.9,
    generatorCores: 0.25,
    limit: 'store',
    ...over,
  };
  return { load, opened: 12, mostOpen: 420, waitedShare: 0 };
}

test('a lost command is counted at its deadline, and a connection attempt is not a command', () => {
  const figures = figuresOf(spell());
  assert.equal(figures.lostShare, 0.25);
  assert.equal(figures.unsentShare, 0.1);
  assert.equal(figures.meanOfAllMs, (3000 * 2 + 1000 * 50) / 4000);
});

test('the loss lasts from the first to the last second that lost more than 1 %', () => {
  const figures = figuresOf(spell());
  assert.equal(figures.slowSeconds, 2);
  assert.equal(figures.isSlowAtEnd, false);
  const eachSecond = [second(1000, 0), second(500, 500), second(995, 5), second(500, 500)];
  const longer = figuresOf(spell({ eachSecond }));
  assert.equal(longer.slowSeconds, 3);
  assert.equal(longer.isSlowAtEnd, true);
});

test('the round that counts is the one in which the store waited least, whatever its result', () => {
  const disturbed = { figures: closing({ waitedShare: 0.3, lostShare: 0 }) };
  const quiet = { figures: closing({ waitedShare: 0.01, lostShare: 0.8 }) };
  assert.equal(medianRun([disturbed, quiet], waitedShareOf), quiet);
  assert.equal(medianRun([], waitedShareOf), undefined);
});

/** A measured slow spell with the policy that closes connections. */
function closing(over: Partial<Figures> = {}): Figures {
  return {
    answeredPerSecond: 1200,
    lostShare: 0.8,
    unsentShare: 0,
    p50Ms: 3,
    p99Ms: 46,
    meanOfAllMs: 41,
    slowSeconds: 4,
    isSlowAtEnd: true,
    opened: 6000,
    mostOpen: 1800,
    waitedShare: 0.01,
    storeCores: 0.97,
    limit: 'store',
    eachSecond: [],
    ...over,
  };
}

/** The same with the policy that abandons commands. */
function abandoning(over: Partial<Figures> = {}): Figures {
  const kept = { meanOfAllMs: 10, lostShare: 0.15, opened: 0, mostOpen: 420, isSlowAtEnd: false, slowSeconds: 2 };
  return closing({ ...kept, ...over });
}
