import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parse } from 'yaml';
import { metricOf, SEEN_OUTCOMES } from '../../loadtest/k6/kit/outcome.ts';
import {
  AGREEMENTS,
  BREAKER_STATES,
  COMMAND_RESULTS,
  CONNECTION_STATES,
  ENGINE_RESULTS,
  FAILOVER_RESULTS,
  GAP_REASONS,
  NOT_STORED_REASONS,
  PAGE_CHANGES,
  PIPELINE_TYPES,
  RETRY_RESULTS,
  SHADOW_COPY_RESULTS,
  SHADOW_COPY_TYPES,
  STORE_OPERATIONS,
} from '../../src/metrics/label-values.ts';
import type { Metrics } from '../../src/metrics/metrics.ts';
import { isCheap } from '../../src/operations/doctor/check.ts';
import { CHECKS } from '../../src/operations/doctor/checks/checks.ts';
import { OUTCOMES } from '../../src/search/outcome.ts';
import { createFullMetrics, type Exposition, nodes, scrape, statusOf } from '../metrics/harness.ts';
import { until } from '../until.ts';
import { readExpression, resultLabelsOf } from './promql.ts';

const root = join(import.meta.dirname, '..', '..');

/** Metric → label → the values that it has. */
export type ExposedSeries = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/**
 * The labels of every metric that a query may name, under its name in a query. The metrics of the service are those of its
 * own page, after an event of each kind. To these are added the results of the recording rules, and what Prometheus and k6
 * write themselves.
 * @throws when no event here gives a metric of the page a series.
 */
export async function exposedMetrics(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const scraped = ['job', 'instance'];
  const known = new Map<string, ReadonlySet<string>>(OTHERS.map(([name, labels]) => [name, new Set(labels)]));
  for (const [name, labels] of await exposedSeries()) known.set(name, new Set([...labels.keys(), ...scraped]));
  for (const { record, expr } of recordingRules()) {
    known.set(record, new Set(resultLabelsOf(expr, (metric) => known.get(metric) ?? [])));
  }
  return known;
}

/** Every metric of the expression is exposed with the labels of its matchers, and each grouping has its labels of a metric. @param added labels that a scrape adds to every series. */
export function assertExposed(
  expression: string,
  exposed: ReadonlyMap<string, ReadonlySet<string>>,
  where = expression,
  added: readonly string[] = [],
): void {
  const { selectors, needed } = readExpression(expression);
  const all = new Set(added);
  for (const { metric, matchers } of selectors) {
    const known = exposed.get(metric);
    assert.ok(known !== undefined, `there is no metric ${metric}: ${where}`);
    const unknown = matchers.map(({ label }) => label).filter((label) => !known.has(label) && !added.includes(label));
    assert.deepEqual(unknown, [], `${metric} has no such label: ${where}`);
    for (const label of known) all.add(label);
  }
  assert.deepEqual(
    needed.filter((label) => !all.has(label)),
    [],
    `no metric has such a label: ${where}`,
  );
}

/** The series of the page of one process with one domain, after an event of each kind and with each closed label value. */
export async function exposedSeries(): Promise<ExposedSeries> {
  const metrics = createFullMetrics({
    domains: [DOMAIN],
    status: () => [statusOf(DOMAIN, { store: nodes('10.0.0.1:6379', '10.0.0.2:6379') })],
  });
  try {
    observeEachKind(metrics.observers);
    collectGarbage();
    let page = await scrape(metrics);
    await until('delays of the event loop and garbage collections, which are reported later', async () => {
      page = await scrape(metrics);
      return !withoutSeries(page).some((name) => name.startsWith('nodejs_'));
    });
    const missing = withoutSeries(page);
    if (missing.length > 0) throw new Error(`add an event to ${import.meta.filename} for: ${missing.join(', ')}`);
    return byName(page);
  } finally {
    metrics.close();
  }
}

/** The recording rules in the order of their file; a rule reads only rules above it. */
export function recordingRules(): readonly { readonly record: string; readonly expr: string }[] {
  const file: RuleFile = parse(readFileSync(join(root, 'deploy/prometheus/recording.rules.yaml'), 'utf8'));
  return file.groups.flatMap(({ rules }) => rules);
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly record: string; readonly expr: string }[] }[];
}

function withoutSeries({ types, samples }: Exposition): readonly string[] {
  const names = new Set(samples.map(({ name }) => name));
  return [...types.keys()].filter((name) => !names.has(name) && !names.has(`${name}_count`));
}

function byName({ samples }: Exposition): ExposedSeries {
  const known = new Map<string, Map<string, Set<string>>>();
  for (const { name, labels } of samples) {
    const own = known.get(name) ?? new Map<string, Set<string>>();
    known.set(name, own);
    for (const [label, value] of Object.entries(labels)) own.set(label, (own.get(label) ?? new Set()).add(value));
  }
  return known;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
}

const DOMAIN = 'goods';

/** Counters with one label beside the domain have all their series from the start, and need no event. */
function observeEachKind(observers: Metrics['observers']): void {
  const domain = DOMAIN;
  const node = '10.0.0.1:6379';
  const target = 'sphinx';
  const durationMs = 1;
  for (const outcome of OUTCOMES) {
    observers.observeRequest({ kind: 'request', route: 'search', domain, outcome, status: 200, durationMs });
  }
  for (const result of ENGINE_RESULTS) {
    observers.observeSearch({ kind: 'engine', domain, result, late: false, durationMs });
  }
  for (const why of NOT_STORED_REASONS) {
    for (const tier of ['l1', 'l2'] as const) observers.observeSearch({ kind: 'not-stored', domain, tier, why });
  }
  for (const operation of STORE_OPERATIONS) {
    for (const result of COMMAND_RESULTS)
      observers.observeStore(domain, { kind: 'command', operation, result, durationMs });
  }
  for (const type of PIPELINE_TYPES) {
    observers.observeStore(domain, { kind: 'pipeline', type, size: 2, failed: 1, durationMs });
  }
  for (const state of BREAKER_STATES) observers.observeStore(domain, { kind: 'breaker', node, state });
  for (const state of CONNECTION_STATES) observers.observeStore(domain, { kind: 'connection', node, state });
  observers.observeGuard(domain, { kind: 'permit', target: domain, queuedMs: 1 });
  for (const result of FAILOVER_RESULTS) observers.observeGuard(domain, { kind: 'retry', target: domain, result });
  for (const result of RETRY_RESULTS) observers.observeEngine(domain, { kind: 'retry', target, result, detail: '' });
  for (const state of ['live', 'ended', 'void'] as const) {
    observers.observeControl({ kind: 'overlay', domain, drill: 'd', state });
  }
  for (const why of GAP_REASONS) observers.observeChanges({ kind: 'changes-gap', domain, why });
  for (const why of PAGE_CHANGES) observers.observeChanges({ kind: 'page-changed', domain, why });
  observers.observeChanges({ kind: 'changes-applied', domain, changes: 1, lagMs: 1 });
  observers.observeChanges({ kind: 'changes-refused', domain, count: 1, detail: '' });
  for (const kind of ['popularity-added', 'popularity-dropped'] as const) {
    observers.observePopularity({ kind, domain, queries: 1 });
  }
  for (const type of SHADOW_COPY_TYPES) {
    for (const result of SHADOW_COPY_RESULTS) observers.observeShadow({ kind: 'shadow-copy', domain, type, result });
  }
  for (const result of AGREEMENTS) observers.observeShadow({ kind: 'shadow-compared', domain, result });
  observers.observeDoctor({
    kind: 'doctor-window',
    findings: CHECKS.filter(isCheap).map(({ id, severity }) => ({ check: id, severity, count: 1 })),
    durationMs,
  });
}

/** Metrics of other programs. Prometheus writes the first ones about each target and each alert. */
const OTHERS: readonly (readonly [name: string, labels: readonly string[]])[] = [
  ...['up', 'scrape_duration_seconds', 'scrape_samples_scraped', 'scrape_samples_post_metric_relabeling'].map(
    (name) => [name, ['job', 'instance']] as const,
  ),
  ['ALERTS', ['alertname', 'alertstate', 'severity', 'job', 'instance', 'domain', 'node', 'endpoint', 'check', 'type']],
  ...k6Metrics().map((name) => [name, ['scenario', 'step']] as const),
];

/**
 * The names that k6 1.8 writes with `--out experimental-prometheus-rw` and its default statistic of trends, p(99). Its
 * system tags are those of loadtest/k6/kit/options.ts, and the scripts add `step`.
 */
function k6Metrics(): readonly string[] {
  const source = readFileSync(join(root, 'loadtest/k6/kit/metrics.ts'), 'utf8');
  const own = [...source.matchAll(/new (Counter|Gauge|Rate|Trend)\('(\w+)'/g)].map(([, kind = '', name = '']) => {
    return [kind, name] as const;
  });
  const builtIn = {
    Counter: ['iterations', 'dropped_iterations', 'http_reqs', 'data_sent', 'data_received'],
    Gauge: ['vus', 'vus_max'],
    Rate: ['http_req_failed', 'checks'],
    Trend: [
      'http_req_duration',
      'http_req_waiting',
      'http_req_connecting',
      'http_req_tls_handshaking',
      'http_req_blocked',
      'http_req_sending',
      'http_req_receiving',
      'iteration_duration',
    ],
  };
  const suffixes: Readonly<Record<string, string>> = { Counter: '_total', Gauge: '', Rate: '_rate', Trend: '_p99' };
  return [
    ...own,
    ...SEEN_OUTCOMES.map((outcome) => ['Counter', metricOf(outcome)] as const),
    ...Object.entries(builtIn).flatMap(([kind, names]) => names.map((name) => [kind, name] as const)),
  ].map(([kind, name]) => `k6_${name}${suffixes[kind] ?? ''}`);
}
