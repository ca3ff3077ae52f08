import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { type PlotName, plotContext, runPlot } from '../../../loadtest/report/over-time.ts';
import { annotationsOf, isPanel } from '../../../loadtest/report/plot.ts';
import type { Panel } from '../../../src/report/plot/panel.ts';
import { runOf } from '../../fakes/load-run.ts';

function panelOf(record: RunRecord, name: PlotName): Panel {
  const plot = runPlot(plotContext(record, judge(record)), name);
  return isPanel(plot) ? plot : assert.fail(plot.missing);
}

function legendOf({ legend }: Panel): readonly string[] {
  return legend.map(({ name, figure }) => `${name} ${figure ?? ''}`.trim().replaceAll('\u00a0', ' '));
}

test('a p50 of a fraction of a millisecond and a p99 of half a second are both readable', () => {
  const { frame } = panelOf(runOf({ breaksAt: 4 }), 'latency');
  const [low, high] = [frame.y.at(0.6), frame.y.at(420)];
  assert.ok(frame.heightPx - low > 5 && low - frame.y.at(10) > 40 && high >= 0, `${low}, ${high}`);
  assert.ok(frame.ticks.length >= 5 && frame.ticks.length <= 9, String(frame.ticks));
});

test('p99 limits are drawn while their steps hold, and only for steps that have one', () => {
  const limits = panelOf(runOf(), 'latency').drawn.filter((one) => one?.markup.includes('guard-limit'));
  assert.equal(limits.length, 5);
});

test('requests that the generator did not begin are counted, and zero of them is shown as none', () => {
  assert.ok(legendOf(panelOf(runOf(), 'rate')).includes('due, but not begun by the generator none'));
  const starved = runOf({ starvedAt: 4 });
  const lost = starved.summary.generator.dropped.toLocaleString('en-US');
  assert.ok(legendOf(panelOf(starved, 'rate')).includes(`due, but not begun by the generator ${lost} in all`));
});

test('allowed sheds are drawn as sheds and are not counted as errors', () => {
  const made = runOf({ breaksAt: 4 });
  const allowed = { ...made, seconds: made.seconds.map((second) => ({ ...second, errors: 0 })) };
  const [errors, ...areas] = legendOf(panelOf(allowed, 'errors'));
  assert.match(errors ?? '', /^errors, by the limits of their step 0 in all$/);
  assert.match(areas.at(-1) ?? '', /^shed [\d,]{5,}$/);
});

test('engine calls in flight name the fullest domain, which a sum over all domains would hide', () => {
  const notes = panelOf(runOf({ script: 'flush-survival' }), 'permits').notes ?? [];
  assert.match(notes.join(' '), /Fullest domain: goods, 4 of 4 permits/);
});

test('rates are summed over all processes', () => {
  const most = (replicas: number): number => {
    const { legend } = panelOf(runOf({ replicas }), 'engine');
    return Number(/[\d,]+/.exec(legend[0]?.figure ?? '')?.[0]);
  };
  assert.ok(Math.abs(most(2) - most(1)) < 10, `${most(2)}, ${most(1)}`);
});

test('memory has round ticks in powers of 1,024', () => {
  const { frame, tickText } = panelOf(runOf(), 'memory');
  assert.deepEqual(
    frame.ticks.map(tickText).map((one) => one.replaceAll('\u00a0', ' ')),
    ['0 B', '50 MiB', '100 MiB', '150 MiB', '200 MiB'],
  );
});

test('parts that could not be observed are named beside the processor use of the others', () => {
  const notes = panelOf(runOf({ stack: 'none' }), 'processors').notes ?? [];
  assert.match(notes.join(' '), /Not measured: stores, engine, generator, all of the machine/);
  assert.doesNotMatch((panelOf(runOf(), 'processors').notes ?? []).join(' '), /Not measured/);
});

test('bands show where a rate holds; a broken step has a mark, and a step that was not reached has no band', () => {
  const record = runOf({ breaksAt: 4, isAborted: true });
  const { bands } = annotationsOf(plotContext(record, judge(record)));
  assert.deepEqual(
    bands.map(({ name }) => name),
    ['warm-up', 'x1', 'x2', 'x3', 'x4 ✕'],
  );
  assert.deepEqual([bands[1]?.fromMs, bands[1]?.toMs], [28_000, 48_000]);
  assert.equal(bands.at(-1)?.toMs, 106_000);
});

test('neighbouring steps have different tints', () => {
  const record = runOf();
  const { bands } = annotationsOf(plotContext(record, judge(record)));
  for (const [i, { style }] of bands.entries()) assert.notEqual(style, bands[i + 1]?.style);
});

test('a line has a gap where its figure is unknown and continues after it', () => {
  const record = runOf();
  const silent = record.seconds.map(({ latencyMs, ...second }, at) => {
    const isSilent = at > 50 && at < 60;
    const nan = { p50: Number.NaN, p90: Number.NaN, p99: Number.NaN, max: 0 };
    if (isSilent) return at % 2 === 0 ? second : { ...second, latencyMs: nan };
    return { ...second, ...(latencyMs !== undefined && { latencyMs }) };
  });
  const p50 = panelOf({ ...record, seconds: silent }, 'latency').drawn.find((one) => one?.markup.includes('line p50'));
  assert.equal(p50?.markup.match(/M/g)?.length, 2);
  assert.doesNotMatch(p50?.markup ?? '', /NaN/);
});

test('errors without an outcome of their own are also drawn', () => {
  const made = runOf();
  const wrong = { ...made, seconds: made.seconds.map((second) => ({ ...second, errors: 5 })) };
  const panel = panelOf(wrong, 'errors');
  assert.equal(legendOf(panel)[0], 'errors, by the limits of their step 720 in all');
  assert.match(panel.drawn.find((one) => one?.markup.includes('line errors'))?.markup ?? '', /d="M/);
});

test('the hit ratio plot gives the lowest value after each loss and the value before it', () => {
  const panel = panelOf(runOf({ script: 'flush-survival' }), 'hit-ratio');
  assert.match(legendOf(panel)[0] ?? '', /^hits: fresh from L1 or L2 2\d(?:\.\d)? % at least$/);
  assert.equal(panel.drawn.filter((one) => one?.markup.includes('line before')).length, 3);
});

test('unanswered store commands are drawn, and no kind of answer is counted among them', () => {
  const record = runOf();
  const ended = (counts: Readonly<Record<string, number>>): readonly string[] => {
    const samples = record.samples.map((sample, at) => ({
      ...sample,
      replicas: sample.replicas.map((replica) => ({
        ...replica,
        domains: Object.fromEntries(
          Object.entries(replica.domains).map(([name, domain]) => {
            const grown = Object.entries(counts).map(([end, perSecond]) => [end, at * perSecond] as const);
            return [name, { ...domain, storeCommands: Object.fromEntries(grown) }];
          }),
        ),
      })),
    }));
    return legendOf(panelOf({ ...record, samples }, 'store'));
  };
  assert.deepEqual(ended({ value: 50, absent: 20, stored: 20, answered: 10 }).slice(1), [
    'of the service, as it counts them 200/s at most',
  ]);
  assert.deepEqual(ended({ value: 50, 'store-slow': 5 }).slice(1), [
    'of the service, as it counts them 110/s at most',
    'of those without an answer 10/s at most',
  ]);
});

test('a machine is never shown busier than its number of cores, however late a sample is', () => {
  const record = runOf();
  const late = record.samples.map((sample, at) => ({ ...sample, atMs: sample.atMs + (at % 2 === 0 ? 700 : 0) }));
  const [machine] = panelOf({ ...record, samples: late }, 'processors').legend.filter(
    ({ style }) => style === 'machine',
  );
  const most = Number(machine?.figure?.split(' ')[0]);
  assert.ok(most > 1 && most < 2, `${machine?.figure}`);
});
