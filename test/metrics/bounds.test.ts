import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNone } from '../pluck.ts';
import { until } from '../until.ts';
import { type Exposition, hit, nodes, scrape, start, statusOf } from './harness.ts';

test('the number of series does not depend on the values in events', async (context) => {
  const metrics = start(context);
  const strange = (index: number): string => `${index}"}\n🦆`.repeat(3);
  const flood = (from: number): void => {
    for (let index = from; index < from + 500; index += 1) {
      const text = strange(index);
      // The types forbid these values; the bound on labels must hold without the types.
      const names =
        'domain reason outcome result operation type why route tier node state phase target detail kind'.split(' ');
      const words = Object.fromEntries(names.map((name) => [name, text]));
      const numbers = {
        status: index,
        durationMs: 1,
        bytes: 1,
        size: 1,
        failed: 1,
        queries: 1,
        queuedMs: 1,
        changes: 1,
        lagMs: 1,
        count: 1,
      };
      const event = { ...words, ...numbers, late: true };
      const observers = metrics.observers as Record<string, (first: unknown, second?: unknown) => void>;
      const each = (observer: string, kinds: string): void => {
        for (const kind of kinds.split(' ')) observers[observer]?.({ ...event, kind });
      };
      const eachOf = (observer: string, kinds: string): void => {
        for (const kind of kinds.split(' ')) observers[observer]?.(text, { ...event, kind });
      };
      observers['observeRequest']?.({ ...hit, ...event });
      each('observeSearch', 'miss engine stored not-stored refresh audit');
      eachOf('observeStore', 'command pipeline late breaker connection topology');
      observers['observeControl']?.(event);
      each(
        'observeChanges',
        'changes-applied changes-gap page-changed changes-refused changes-away changes-back source-away source-back',
      );
      observers['observePopularity']?.(event);
      each('observeShadow', 'shadow-copy shadow-compared shadow-changed placement-changed');
      eachOf('observeGuard', 'breaker shed permit');
    }
  };
  // Process metrics, such as the first garbage collection, are not events.
  const ours = ({ samples }: Exposition) => samples.filter(({ name }) => !name.startsWith('nodejs_'));
  flood(0);
  const first = ours(await scrape(metrics));
  flood(10_000);
  const second = ours(await scrape(metrics));
  assert.equal(second.length, first.length);
  assert.ok(second.length < 1000, `${second.length} series`);
  assert.ok(second.every(({ labels }) => Object.values(labels).every((value) => !value.includes('🦆'))));
  assert.ok(second.some(({ labels }) => labels['domain'] === 'other'));
});

test('labels are from a fixed list, and nodes and endpoints are labels of gauges only', async (context) => {
  const metrics = start(context, () => [statusOf('goods', { store: nodes('a:1', 'b:2') })]);
  const { observeStore, observeDoctor } = metrics.observers;
  const of = { node: 'a:1', durationMs: 1 };
  observeStore('goods', { kind: 'command', operation: 'read', result: 'value', ...of });
  observeStore('goods', { kind: 'pipeline', type: 'read', size: 2, failed: 0, ...of });
  const findings = [{ check: 'store-cpu', severity: 'warning', count: 1 }] as const;
  observeDoctor({ kind: 'doctor-window', findings, durationMs: 1 });
  const { samples, types } = await scrape(metrics);
  const used = new Set(samples.flatMap(({ labels }) => Object.keys(labels)));
  const known =
    'domain outcome reason operation route status tier state phase type node endpoint kind version entry_version check severity le quantile';
  assertNone([...used], (label) => !known.split(' ').includes(label));
  for (const label of ['node', 'endpoint']) {
    const having = samples.filter(({ labels }) => labels[label] !== undefined);
    assert.ok(having.length > 0, label);
    for (const { name } of having) assert.equal(types.get(name), 'gauge', name);
  }
});

test('a blocked event loop is in its delays and its busy time, and two scrapers see the same', async (context) => {
  const metrics = start(context);
  const count = ({ value }: Exposition) => value('nodejs_eventloop_delay_seconds_count') ?? 0;
  const delayed = ({ value }: Exposition, le: string) => value('nodejs_eventloop_delay_seconds_bucket', { le }) ?? 0;
  const above = (page: Exposition) => count(page) - delayed(page, '0.1');
  const sums = ({ value }: Exposition) => [
    value('nodejs_eventloop_delay_seconds_sum') ?? 0,
    value('nodejs_eventloop_busy_seconds_total') ?? 0,
  ];
  let before = await scrape(metrics);
  await until('a measured turn', async () => {
    before = await scrape(metrics);
    return count(before) > 0;
  });
  const sinceMs = performance.now();
  while (performance.now() < sinceMs + 300);
  const blockedSeconds = (performance.now() - sinceMs) / 1000;
  let first = await scrape(metrics);
  await until('the delay', async () => {
    first = await scrape(metrics);
    return above(first) > above(before);
  });
  const second = await scrape(metrics);
  for (const page of [first, second]) {
    const grown = sums(page).map((sum, at) => sum - (sums(before)[at] ?? 0));
    assert.ok(Math.min(...grown) > blockedSeconds / 2, `${grown.join(', ')} s in ${blockedSeconds} s`);
  }
  for (const le of ['0.1', '1', '+Inf']) assert.ok(delayed(second, le) >= delayed(first, le));
  assert.ok((first.value('process_resident_memory_bytes') ?? 0) > 1e7);
  assert.ok((first.value('nodejs_heap_size_used_bytes') ?? 0) > 1e6);
});

test('concurrent scrapes share one page, and a failed scrape does not affect the next', async (context) => {
  let asked = 0;
  const metrics = start(context, () => {
    asked += 1;
    if (asked === 2) throw new Error('not now');
    return [];
  });
  const [one, two] = await Promise.all([metrics.text(), metrics.text('*/*')]);
  assert.equal(one, two);
  await assert.rejects(metrics.text(), /not now/);
  await metrics.text();
  assert.equal(asked, 3);
});

test('two sets of metrics in one process are independent', async (context) => {
  const [one, two] = [start(context), start(context)];
  one.observers.observeRequest(hit);
  const labels = { domain: 'goods', outcome: 'hit-l1', route: 'search' };
  assert.equal((await scrape(one)).value('serpcache_requests_total', labels), 1);
  assert.equal((await scrape(two)).value('serpcache_requests_total', labels), 0);
});
