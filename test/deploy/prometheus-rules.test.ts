import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { assertNone } from '../pluck.ts';
import { assertExposed, exposedMetrics, exposedSeries, recordingRules } from './exposed.ts';
import { resultLabelsOf, selectorsOf } from './promql.ts';

const home = join(import.meta.dirname, '..', '..', 'deploy', 'prometheus');
const read = (name: string) => parse(readFileSync(join(home, name), 'utf8'));

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

interface TestFile {
  readonly group_eval_order: readonly string[];
  readonly tests: readonly {
    readonly name: string;
    readonly input_series: readonly { readonly series: string }[];
    readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}

const groups: readonly { readonly name: string; readonly rules: readonly Alert[] }[] = read('alerts.rules.yaml').groups;
const alerts = groups.flatMap(({ rules }) => rules);
const files: readonly TestFile[] = readdirSync(home)
  .filter((name) => name.endsWith('.test.yaml'))
  .map(read);
const recorded = new Map(recordingRules().map(({ record, expr }) => [record, expr]));
const expressions = [...recorded.values(), ...alerts.map(({ expr }) => expr)];

const exposed = await exposedMetrics();
const series = await exposedSeries();

/** A test of one alert, with the metrics that it feeds. */
interface AlertTest {
  readonly alert: string;
  readonly fires: boolean;
  readonly metrics: ReadonlySet<string>;
}

const alertTests: readonly AlertTest[] = files
  .flatMap(({ tests }) => tests)
  .flatMap(({ input_series, alert_rule_test = [] }) => {
    const metrics = new Set(input_series.map((input) => /^[\w:]+/.exec(input.series)?.[0] ?? ''));
    return alert_rule_test.map(({ alertname, exp_alerts }) => {
      return { alert: alertname, fires: exp_alerts.length > 0, metrics };
    });
  });

/** The scraped metrics behind an expression, with those behind its recorded figures. */
function scrapedBy(expression: string): readonly string[] {
  return selectorsOf(expression).flatMap(({ metric }) => {
    const rule = recorded.get(metric);
    return rule === undefined ? [metric] : scrapedBy(rule);
  });
}

const DRILL = 'serpcache_control_drill_live';
const heedsDrills = ({ expr }: Alert) => expr.includes('unless on (job, domain) serpcache:drill_recent:max10m == 1');

test('every rule names only metrics and labels that exist', () => {
  for (const expression of expressions) assertExposed(expression, exposed);
});

test('every value that a matcher of a rule names occurs', () => {
  const [{ job_name: job }] = read('prometheus.yaml').scrape_configs;
  for (const expression of expressions) {
    for (const { metric, matchers } of selectorsOf(expression)) {
      for (const { label, value } of matchers) {
        const known = label === 'job' ? new Set([job]) : series.get(metric)?.get(label);
        // A recorded figure keeps the values of the label of its source.
        const source = scrapedBy(recorded.get(metric) ?? '0').map((name) => series.get(name)?.get(label));
        for (const one of value.split('|')) {
          assert.ok(known?.has(one) || source.some((set) => set?.has(one)), `${label}="${one}" in: ${expression}`);
        }
      }
    }
  }
});

test('every alert has a test in which it fires, and one in which it stays silent though all its metrics are there', () => {
  for (const { alert, expr } of alerts) {
    const own = alertTests.filter((each) => each.alert === alert);
    assert.ok(
      own.some(({ fires }) => fires),
      `${alert} never fires`,
    );
    const needed = scrapedBy(expr).filter((metric) => metric !== DRILL);
    const nearMisses = own.filter(({ fires, metrics }) => !fires && needed.every((metric) => metrics.has(metric)));
    assert.ok(nearMisses.length > 0, `${alert} has no near miss`);
  }
  const names = new Set(alerts.map(({ alert }) => alert));
  assertNone(alertTests, ({ alert }) => !names.has(alert));
});

test('every alert that is silent during drills has a test with a drill, and those on objectives and the breaker never are', () => {
  const silenced = alerts.filter(heedsDrills).map(({ alert }) => alert);
  assert.ok(silenced.length > 0);
  for (const alert of silenced) {
    const inDrill = alertTests.filter((each) => each.alert === alert && !each.fires && each.metrics.has(DRILL));
    assert.ok(inDrill.length > 0, `${alert} has no test with a drill`);
  }
  const objectives = groups.find(({ name }) => name === 'serpcache-objectives-alerts')?.rules ?? [];
  const awake = alerts.filter(({ alert }) => alert === 'SerpcacheEngineBreakerOpen').concat(objectives);
  assert.ok(awake.length > 1 && !awake.some(heedsDrills));
});

test('every alert has a severity, and leads to its section of the runbook', () => {
  for (const { alert, for: waits, labels, annotations } of alerts) {
    assert.ok(['page', 'ticket', 'info'].includes(labels.severity), alert);
    assert.ok(labels.severity !== 'page' || waits !== undefined, `${alert} pages at once`);
    assert.equal(annotations['runbook_url'], `deploy/runbook/alerts.md#${alert.toLowerCase()}`);
  }
});

test('texts of alerts use only labels that the alert has', () => {
  for (const { alert, expr, annotations } of alerts) {
    const labels = resultLabelsOf(expr, (metric) => exposed.get(metric) ?? []);
    const used = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
    for (const label of used) assert.ok(labels.includes(label), `${alert} has no label ${label}`);
  }
});

test('promtool evaluates recorded figures before the alerts that read them', () => {
  const order = [...read('recording.rules.yaml').groups, ...groups].map(({ name }) => name);
  for (const file of files) assert.deepEqual(file.group_eval_order, order);
});

test('prometheus.yaml names a retention that covers the longest range of rules and dashboards, and intervals that fit the shortest', () => {
  const text = readFileSync(join(home, 'prometheus.yaml'), 'utf8');
  const dashboards = join(home, '..', 'grafana', 'dashboards');
  const queries = readdirSync(dashboards).map((name) => readFileSync(join(dashboards, name), 'utf8'));
  const secondsOf = (count = '', unit = ''): number =>
    Number(count) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? NaN);
  const ranges = [...[...expressions, ...queries].join('\n').matchAll(/\[(\d+)([smhd])\]/g)].map(([, count, unit]) =>
    secondsOf(count, unit),
  );
  const [, days] = /--storage\.tsdb\.retention\.time=(\d+)d/.exec(text) ?? [];
  const [, interval] = /any interval up to (\d+) s/.exec(text) ?? [];
  assert.ok(secondsOf(days, 'd') > Math.max(...ranges));
  // Prometheus 3 excludes the start of a range, which then holds exactly two samples.
  assert.ok(2 * secondsOf(interval, 's') <= Math.min(...ranges));
});
