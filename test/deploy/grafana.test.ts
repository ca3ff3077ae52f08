import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { buildDashboard } from '../../deploy/grafana/dashboard.ts';
import { DASHBOARDS, dashboardFiles, dashboardQueries } from '../../deploy/grafana/dashboards.ts';
import { assertExposed, exposedMetrics, exposedSeries } from './exposed.ts';
import { resultLabelsOf, selectorsOf } from './promql.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'deploy/grafana');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const queries = dashboardQueries();
const known = await exposedMetrics();
const series = await exposedSeries();

test('the committed dashboards are what the code builds: node deploy/grafana/build.ts', () => {
  const files = dashboardFiles();
  assert.deepEqual(readdirSync(join(folder, 'dashboards')).sort(), [...files.keys()].sort());
  for (const [name, text] of files) assert.equal(read(`deploy/grafana/dashboards/${name}`), text, name);
});

test('every query parses, and names only metrics and labels that Prometheus has', () => {
  for (const { dashboard, panel, expression } of queries) {
    assertExposed(expression, known, `${dashboard}: ${panel}: ${expression}`);
  }
});

test('every legend names only labels of its result', () => {
  for (const { dashboard, panel, expression, legend } of queries) {
    const labels = new Set(resultLabelsOf(expression, (metric) => known.get(metric) ?? []));
    for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g)) {
      assert.ok(labels.has(label), `${dashboard}: ${panel}: no label ${label} in the result of ${expression}`);
    }
  }
});

test('every label value in a query is one that the service has', () => {
  for (const { expression } of queries) {
    for (const { metric, matchers } of selectorsOf(expression)) {
      for (const { label, value } of matchers) {
        const values = series.get(metric)?.get(label);
        if (values === undefined || value === '.*') continue;
        for (const one of value.split('|'))
          assert.ok(values.has(one), `${metric} has no ${label}="${one}": ${expression}`);
      }
    }
  }
});

test('no variable is left in a query that is sent, and at most five may be empty, each with a reason', () => {
  for (const { expression } of queries) assert.doesNotMatch(expression, /\$/);
  const optional = queries.filter(({ panel, emptyWhen }) => emptyWhen !== undefined && !panel.startsWith('annotation'));
  assert.ok(optional.length <= 5, `${optional.length} optional queries`);
  for (const { emptyWhen = '' } of optional) assert.notEqual(emptyWhen, '');
});

test('panels have their own numbers, fill the width of 24 columns, and do not overlap', () => {
  for (const dashboard of DASHBOARDS) {
    const built = buildDashboard(dashboard).panels ?? [];
    const ids = built.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, dashboard.title);
    const cells = new Set<string>();
    for (const { title, gridPos } of built) {
      assert.ok(gridPos !== undefined && gridPos.x + gridPos.w <= 24, `${dashboard.title}: ${title}`);
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        for (let x: number = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
          assert.ok(!cells.has(`${x} ${y}`), `${dashboard.title}: ${title} overlaps`);
          cells.add(`${x} ${y}`);
        }
      }
    }
    const height = Math.max(...built.map(({ gridPos }) => (gridPos?.y ?? 0) + (gridPos?.h ?? 0)));
    assert.equal(cells.size, 24 * height, `${dashboard.title} has holes`);
  }
});

test('every alert has a panel that shows its figure and leads to its section of the runbook', () => {
  const { groups }: { groups: { rules: { alert: string }[] }[] } = parse(read('deploy/prometheus/alerts.rules.yaml'));
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const linked = DASHBOARDS.flatMap(({ rows }) =>
    rows.flatMap((row) => row.panels.flatMap(({ alerts }) => alerts ?? [])),
  );
  assert.deepEqual([...new Set(linked)].sort(), alerts.sort());
});

test('the provisioned data source leads from the trace_id of an exemplar to its trace', () => {
  const { datasources } = parse(read('deploy/grafana/provisioning/datasources/serpcache.yaml'));
  const [{ type, jsonData }] = datasources;
  assert.equal(type, 'prometheus');
  assert.deepEqual(
    jsonData.exemplarTraceIdDestinations.map(({ name }: { readonly name: string }) => name),
    ['trace_id'],
  );
  const uids = datasources.map(({ uid }: { readonly uid: string }) => uid);
  assert.ok(uids.includes(jsonData.exemplarTraceIdDestinations[0].datasourceUid));
});
