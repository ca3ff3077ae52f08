import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import { type PlotName, plotContext, runPlot } from '../../../loadtest/report/over-time.ts';
import { runAnnotations } from '../../../loadtest/report/plot.ts';
import { toHtml } from '../../../src/report/html.ts';
import type { Panel } from '../../../src/report/plot/panel.ts';
import { runOf } from '../../fakes/load-run.ts';
import { pluck } from '../../pluck.ts';

function panelOf(record: RunRecord, name: PlotName): Panel {
  const panel = runPlot(plotContext(record, judge(record)), name);
  assert.ok(!panel.isEmpty, String(panel.missing));
  return panel;
}

/** The drawn parts that hold a text, as markup. */
function drawnWith({ drawn }: Panel, text: string): readonly string[] {
  return drawn.flatMap((one) => (one === undefined ? [] : [toHtml(one)])).filter((markup) => markup.includes(text));
}

test('a p50 of a fraction of a millisecond and a p99 of half a second are both readable', () => {
  const { frame } = panelOf(runOf({ breaksAt: 4 }), 'latency');
  const [low, high] = [frame.y.at(0.6), frame.y.at(420)];
  assert.ok(frame.heightPx - low > 5 && low - frame.y.at(10) > 40 && high >= 0, `${low}, ${high}`);
  assert.ok(frame.ticks.length >= 5 && frame.ticks.length <= 9, String(frame.ticks));
});

test('p99 limits are drawn while their steps hold, and only for steps that have one', () => {
  const limits = drawnWith(panelOf(runOf(), 'latency'), 'guard-limit');
  assert.equal(limits.length, 5);
});

test('rates are summed over all processes', () => {
  const most = (replicas: number): number => {
    const { legend } = panelOf(runOf({ replicas }), 'engine');
    return Number(/[\d,]+/.exec(legend[0]?.figure ?? '')?.[0]);
  };
  assert.ok(Math.abs(most(2) - most(1)) < 10, `${most(2)}, ${most(1)}`);
});

test('bands show where a rate holds; a broken step has a mark, and a step that was not reached has no band', () => {
  const record = runOf({ breaksAt: 4, isAborted: true });
  const { bands } = runAnnotations(plotContext(record, judge(record)));
  assert.deepEqual(pluck(bands, 'name'), ['warm-up', 'x1', 'x2', 'x3', 'x4 ✕']);
  assert.deepEqual([bands[1]?.fromMs, bands[1]?.toMs], [28_000, 48_000]);
  assert.equal(bands.at(-1)?.toMs, 106_000);
});

test('a line has a gap where its figure is unknown and continues after it', () => {
  const record = runOf();
  const silent = record.seconds.map(({ latencyMs, ...second }, at) => {
    const isSilent = at > 50 && at < 60;
    const nan = { p50: Number.NaN, p90: Number.NaN, p99: Number.NaN, max: 0 };
    if (isSilent) return at % 2 === 0 ? second : { ...second, latencyMs: nan };
    return { ...second, ...(latencyMs !== undefined && { latencyMs }) };
  });
  const [p50 = ''] = drawnWith(panelOf({ ...record, seconds: silent }, 'latency'), 'line p50');
  assert.equal(p50.match(/M/g)?.length, 2);
  assert.doesNotMatch(p50, /NaN/);
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
