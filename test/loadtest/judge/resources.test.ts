import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judge } from '../../../loadtest/judge/judge.ts';
import type { RunRecord } from '../../../loadtest/judge/record.ts';
import type { ResourceUse } from '../../../loadtest/judge/resources.ts';
import type { HostSample } from '../../../loadtest/sample/host.ts';
import type { DomainSample, ReplicaSample, Sample } from '../../../loadtest/sample/sample.ts';
import type { StoreSample } from '../../../loadtest/sample/store.ts';
import { runOf } from '../../fakes/load-run.ts';

suite('the use of each resource', () => {
  test('is sorted by fullness, and has a share for each step', () => {
    const record = runOf();
    const { resources, steps } = judge(record);
    const used = resources.map((use) => use.used);
    assert.deepEqual(
      used,
      used.toSorted((a, b) => b - a),
    );
    for (const { byStep, name } of resources) assert.equal(byStep.length, steps.length, name);
  });

  test('the use of a serpcache core is its processor time, or its event loop when only that is known', () => {
    const busy = withReplicas(runOf(), (replica, at) => ({ ...replica, cpuSeconds: 0.7 * at, loopUtilization: 0.9 }));
    near(useOf(busy, 'a core of serpcache').used, 0.7);
    const unknown = withReplicas(runOf(), ({ cpuSeconds: _, ...replica }) => ({ ...replica, loopUtilization: 0.5 }));
    near(useOf(unknown, 'a core of serpcache').used, 0.5);
  });

  test('the busiest one of several processes or nodes counts', () => {
    const record = withReplicas(runOf({ replicas: 3 }), (replica, at) => ({
      ...replica,
      cpuSeconds: (replica.name.endsWith('8091') ? 0.8 : 0.2) * at,
    }));
    const core = useOf(record, 'a core of serpcache');
    near(core.used, 0.8);
    assert.match(core.words, /the busiest of 3 processes/);
    const skewed = withStores(runOf(), (store, at) => ({
      ...store,
      cpuSeconds: store.name === 'goods-2' ? 0.6 * at : 0,
    }));
    assert.match(useOf(skewed, 'a core of the store of goods').words, /0\.60 of 1 core \(goods-2\)/);
    assert.equal(useOf(skewed, 'a core of the store of packages').used, 0);
  });

  test('a queue that is never empty means that no engine slot is free', () => {
    const queued = (engineQueued: number): number =>
      useOf(
        withDomains(runOf(), (domain) => ({ ...domain, engineInFlight: 1, engineCeiling: 4, engineQueued })),
        'engine permits for goods',
      ).used;
    assert.equal(queued(0), 0.25);
    assert.equal(queued(3), 1);
  });

  test('a store that evicts is full, and a store without a memory limit is not measured', () => {
    const evicting = withStores(runOf(), (store, at) => ({ ...store, evicted: store.name === 'goods-3' ? at : 0 }));
    const memory = useOf(evicting, 'memory of the store of goods');
    assert.equal(memory.used, 1);
    assert.match(memory.words, /1\/s evicted \(goods-3\)/);
    assert.ok(useOf(evicting, 'memory of the store of packages').used < 0.9);
    const endless = judge(withStores(runOf(), (store) => ({ ...store, maxBytes: 0 })));
    assert.equal(
      endless.resources.some(({ name }) => name.startsWith('memory of the store')),
      false,
    );
  });

  test('the network is full when it loses packets, and otherwise its use is unknown', () => {
    const network = useOf(runOf(), 'the network');
    assert.deepEqual(new Set(network.byStep), new Set([undefined]));
    assert.match(network.words, /MiB\/s over loopback, nothing dropped/);
    const losing = useOf(
      withHost(runOf(), (host, at) => ({ ...host, listenDrops: at })),
      'the network',
    );
    assert.equal(losing.used, 1);
  });

  test('the use of the generator is relative to the processors it is pinned to', () => {
    const record = runOf();
    const kept = (generatorCpus: string): number =>
      useOf({ ...record, machine: { ...record.machine, generatorCpus } }, 'processors of the generator').used;
    near(kept('2-3'), kept('3') / 2);
  });

  test('growth is computed from the steps that held, not from a step that broke', () => {
    const [whole, broken] = [runOf(), runOf({ breaksAt: 5 })];
    const flat = withReplicas(broken, (replica, _, atMs) => ({
      ...replica,
      loopUtilization: atMs > fromOf(broken, 'x5') ? 1 : (replica.loopUtilization ?? 0),
    }));
    near(useOf(flat, 'a core of serpcache').fullAtRps ?? 0, useOf(whole, 'a core of serpcache').fullAtRps ?? 0, 0.02);
  });
});

suite('the most informative step', () => {
  test('is the first that broke', () => {
    assert.equal(useOf(runOf({ breaksAt: 3 }), 'a core of serpcache').words, useAt(runOf(), 'x3'));
  });
});

function useAt(record: RunRecord, last: string): string {
  const at = record.summary.steps.findIndex(({ step }) => step.name === last);
  const summary = { ...record.summary, steps: record.summary.steps.slice(0, at + 1) };
  return useOf({ ...record, summary }, 'a core of serpcache').words;
}

function useOf(record: RunRecord, name: string): ResourceUse {
  const found = judge(record).resources.find((use) => use.name === name);
  assert.ok(found, name);
  return found;
}

function fromOf(record: RunRecord, name: string): number {
  const found = judge(record).steps.find(({ summary }) => summary.step.name === name);
  assert.ok(found);
  return found.fromMs;
}

function near(value: number, expected: number, within = 0.01): void {
  assert.ok(Math.abs(value - expected) <= within * expected, `${value}, not about ${expected}`);
}

/** `at`: seconds since the run began; whole numbers, as in the fake samples. */
function changed(record: RunRecord, change: (sample: Sample, at: number) => Partial<Sample>): RunRecord {
  const samples = record.samples.map((sample, at) => ({ ...sample, ...change(sample, at) }));
  return { ...record, samples };
}

function withReplicas(
  record: RunRecord,
  change: (replica: ReplicaSample, at: number, atMs: number) => ReplicaSample,
): RunRecord {
  return changed(record, ({ replicas, atMs }, at) => ({ replicas: replicas.map((one) => change(one, at, atMs)) }));
}

function withDomains(record: RunRecord, change: (domain: DomainSample) => DomainSample): RunRecord {
  return withReplicas(record, (replica) => ({
    ...replica,
    domains: Object.fromEntries(Object.entries(replica.domains).map(([name, domain]) => [name, change(domain)])),
  }));
}

function withStores(record: RunRecord, change: (store: StoreSample, at: number) => StoreSample): RunRecord {
  return changed(record, ({ stores }, at) => ({ stores: stores.map((one) => change(one, at)) }));
}

function withHost(record: RunRecord, change: (host: HostSample, at: number) => HostSample): RunRecord {
  return changed(record, ({ host }, at) => (host === undefined ? {} : { host: change(host, at) }));
}
