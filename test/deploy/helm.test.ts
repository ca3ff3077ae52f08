import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { assertExposed, exposedMetrics } from './exposed.ts';
import { selectorsOf } from './promql.ts';

const root = join(import.meta.dirname, '..', '..');
const home = join(root, 'deploy', 'helm');
const chart = join(home, 'serpcache');
const text = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8');
const yaml = (...path: readonly string[]) => parse(text(...path));

/** As much of JSON Schema as the chart's schema uses for objects. */
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

const schema: Schema = JSON.parse(text(chart, 'values.schema.json'));

/** Paths of all values that the schema names, or those of an object that it does not name. */
function pathsOf(node: Schema, path = ''): readonly string[] {
  const { properties } = schema.definitions?.[node.$ref?.split('/').at(-1) ?? ''] ?? node;
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([name, member]) => pathsOf(member, `${path}/${name}`));
}

function unknownIn(values: unknown, node: Schema, path = ''): readonly string[] {
  const { properties } = schema.definitions?.[node.$ref?.split('/').at(-1) ?? ''] ?? node;
  if (properties === undefined || typeof values !== 'object' || values === null) return [];
  return Object.entries(values).flatMap(([name, value]) => {
    const member = properties[name];
    return member === undefined ? [`${path}/${name}`] : unknownIn(value, member, `${path}/${name}`);
  });
}

test('the chart has the version of package.json, as its own and as that of the service', () => {
  const { version } = JSON.parse(text(root, 'package.json'));
  const { version: own, appVersion } = yaml(chart, 'Chart.yaml');
  assert.deepEqual([own, appVersion], [version, version]);
});

test('rules and dashboards of the chart are links to those of the project, not copies', () => {
  const links = readdirSync(join(chart, 'files')).map((name) => {
    const path = join(chart, 'files', name);
    assert.ok(lstatSync(path).isSymbolicLink(), `${name} is no link`);
    return relative(root, realpathSync(path));
  });
  assert.deepEqual(links.toSorted(), [
    'deploy/grafana/dashboards',
    'deploy/prometheus/alerts.rules.yaml',
    'deploy/prometheus/recording.rules.yaml',
  ]);
});

test('every value that the schema names has its default in values.yaml, and the value files name no other', () => {
  const defaults = yaml(chart, 'values.yaml');
  const without = pathsOf(schema).filter((path) => {
    let value: unknown = defaults;
    for (const step of path.split('/').slice(1)) value = (value as Readonly<Record<string, unknown>>)[step];
    return value === undefined;
  });
  assert.deepEqual(without, []);
  const files = readdirSync(join(home, 'values'));
  assert.deepEqual(files.toSorted(), ['observed.yaml', 'production.yaml', 'small.yaml']);
  for (const values of [defaults, ...files.map((name) => yaml(home, 'values', name))])
    assert.deepEqual(unknownIn(values, schema), []);
});

test('the grace period leaves each part of the service all the time that it may take to close', () => {
  const source = text(root, 'src', 'app.ts');
  const constant = (name: string): number => Number(new RegExp(`^const ${name} = (\\d+);`, 'm').exec(source)?.[1]);
  const parts = [...source.matchAll(/\bended\('/g)].length;
  const mostMs = parts * constant('CLOSE_MS') + constant('ADMIN_DRAIN_MS');
  const seconds = Number(
    /define "serpcache\.closeSeconds" -}}(\d+)/.exec(text(chart, 'templates', '_helpers.tpl'))?.[1],
  );
  assert.ok(parts > 0 && seconds * 1000 >= mostMs, `${seconds} s for ${mostMs} ms`);
});

test('the container is the user of the image, and its ports are those of the image', () => {
  const image = text(root, 'deploy', 'docker', 'Dockerfile').split('\nFROM ').at(-1) ?? '';
  const deployment = text(chart, 'templates', 'deployment.yaml');
  assert.equal(/runAsUser: (\d+)/.exec(deployment)?.[1], /^USER (\d+):/m.exec(image)?.[1]);
  const ports = [...deployment.matchAll(/containerPort: (\d+)/g)].map(([, port]) => port);
  assert.deepEqual(ports, /^EXPOSE (.+)$/m.exec(image)?.[1]?.split(' '));
});

test('the chart makes no Secret', () => {
  for (const name of readdirSync(join(chart, 'templates')))
    assert.doesNotMatch(text(chart, 'templates', name), /^kind: Secret$/m, name);
});

test("the adapter's queries name metrics of the service, and give what the autoscaler reads", async () => {
  const exposed = await exposedMetrics();
  const [rule, ...more] = yaml(home, 'prometheus-adapter.yaml').rules.custom;
  assert.deepEqual(more, []);
  const [series] = selectorsOf(rule.seriesQuery);
  assert.ok(series !== undefined);
  const query = rule.metricsQuery
    .replaceAll('<<.Series>>', series.metric)
    .replaceAll('<<.LabelMatchers>>', 'namespace="search",pod=~"a|b"')
    .replaceAll('<<.GroupBy>>', 'pod');
  // The Prometheus operator adds these to each series that a ServiceMonitor scrapes.
  const added = ['namespace', 'pod'];
  for (const one of [rule.seriesQuery, query]) assertExposed(one, exposed, one, added);
  assert.match(series.metric, new RegExp(rule.name.matches));
  const read = [...text(chart, 'templates', 'scaling.yaml').matchAll(/metric: \{ name: (\w+) \}/g)];
  assert.deepEqual(
    read.map(([, name]) => name),
    [rule.name.as],
  );
});
