import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from '../../src/config/load.ts';
import type { StoreProbe } from '../../src/operations/doctor/doctor.ts';
import { systemClock } from '../../src/runtime.ts';
import { openStoreProbes } from '../../src/stores/store-probes.ts';

function factsOf(yaml: string): readonly StoreProbe['facts'][] {
  const settings = loadSettings({ env: { SERPCACHE_CONFIG: 'c.yaml' }, cwd: '/srv', readFile: () => yaml });
  // They connect at their first question.
  return openStoreProbes(settings, { clock: systemClock, random: Math.random }).map(({ facts }) => facts);
}

const CLUSTER = '{ kind: cluster, nodes: ["cache-a:1", "cache-b:1"], shared: true }';

test('each store is one probe, which names all the settings that use it', () => {
  const facts = factsOf(`
domains:
  goods:
    engine: { kind: sqlite }
    store: ${CLUSTER}
    candidates: { valkey: { kind: standalone, nodes: ["127.0.0.1:7"], dedicated: true } }
  jobs:
    engine: { kind: sqlite }
    store: { kind: cluster, nodes: ["cache-b:1", "CACHE-A:1"], shared: true }
  alone:
    engine: { kind: sqlite }
control: { kind: sentinel, sentinels: ["s:1"], master: m, shared: true }
counters: { kind: sentinel, sentinels: ["s:1"], master: m, shared: true }
`);
  assert.deepEqual(
    facts.map(({ name, domains, kind, isCache }) => ({ name, domains, kind, isCache })),
    [
      { name: 'store of goods and jobs', domains: ['goods', 'jobs'], kind: 'cluster', isCache: true },
      { name: 'candidate valkey of goods', domains: ['goods'], kind: 'standalone', isCache: true },
      { name: 'control store, counter store', domains: [], kind: 'sentinel', isCache: false },
    ],
  );
  assert.deepEqual(
    facts.map(({ settings }) => settings.names),
    [['cache-a', 'cache-b'], [], ['s']],
  );
});

test('a control store that is also a domain’s store is a cache', () => {
  const [both, ...others] = factsOf(`
domains: { goods: { engine: { kind: sqlite }, store: ${CLUSTER} } }
control: ${CLUSTER}
`);
  assert.deepEqual(others, []);
  assert.deepEqual([both?.name, both?.isCache], ['store of goods, control store', true]);
});

test('without a store there is nothing to look at', () => {
  assert.deepEqual(factsOf('domains: { goods: { engine: { kind: sqlite } } }'), []);
});
