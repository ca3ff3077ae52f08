import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import type { DomainSettings, EngineSettings } from '../../src/config/settings.ts';
import { openEngineProbes } from '../../src/engines/engine-probes.ts';
import { buildIndex } from '../../src/engines/sqlite/build.ts';
import { indexFileOf } from '../../src/engines/sqlite/schema.ts';
import { type EngineFacts, known } from '../../src/operations/doctor/facts.ts';
import { DOMAIN, temporaryDirectory, titled } from './sqlite/harness.ts';

const NOW_MS = 1_700_000_000_000;
const LIMITS = { deadlineMs: 500, hardDeadlineMs: 2000, maxConcurrent: 8, maxQueued: 64, limit: 'fixed' } as const;

type Sphinx = Exclude<EngineSettings, { readonly kind: 'sqlite' }>;
const sphinx = (change: Partial<Sphinx> = {}): Sphinx => ({
  kind: 'sphinx',
  index: 'goods',
  endpoints: [{ host: '127.0.0.1', port: 1 }],
  ranker: 'bm25',
  maxMatches: 1000,
  connectTimeoutMs: 100,
  snippetLength: 200,
  ...LIMITS,
  ...change,
});
const embedded = (directory: string): EngineSettings => ({
  kind: 'sqlite',
  directory,
  workers: 1,
  demo: false,
  snippetLength: 200,
  ...LIMITS,
});

async function readAll(
  t: TestContext,
  domains: readonly Pick<DomainSettings, 'name' | 'engine' | 'lifeboat'>[],
): Promise<readonly EngineFacts[]> {
  const probes = openEngineProbes(domains, { clock: { wallMs: () => NOW_MS, monotonicMs: () => performance.now() } });
  t.after(() => Promise.all(probes.map((probe) => probe.close())));
  return Promise.all(probes.map((probe) => probe.read('full')));
}

test('each endpoint and each index has a probe, and domains with the same one share it', async (t) => {
  const other = { host: 'search.internal.invalid', port: 2 };
  const facts = await readAll(t, [
    { name: 'goods', engine: sphinx({ endpoints: [{ host: '127.0.0.1', port: 1 }, other] }) },
    { name: 'offers', engine: sphinx() },
    { name: 'cars', engine: sphinx({ index: 'cars' }) },
  ]);
  assert.deepEqual(
    facts.map(({ name, endpoint, index }) => `${name}: ${endpoint} ${index}`),
    [
      'engine of goods, offers: 127.0.0.1:1 goods',
      'engine of goods: search.internal.invalid:2 goods',
      'engine of cars: 127.0.0.1:1 cars',
    ],
  );
  assert.deepEqual(
    facts.map(({ settings }) => settings.hostName),
    [undefined, other.host, undefined],
  );
});

test('domains with other limits have probes of their own', async (t) => {
  const facts = await readAll(t, [
    { name: 'goods', engine: sphinx() },
    { name: 'offers', engine: sphinx({ maxConcurrent: 2 }) },
  ]);
  assert.deepEqual(
    facts.map(({ name, settings }) => [name, settings.maxConcurrent]),
    [
      ['engine of goods', 8],
      ['engine of offers', 2],
    ],
  );
});

test('an embedded index and that of a lifeboat tell their documents and the age of their build', async (t) => {
  const [directory, boat] = [await temporaryDirectory(t), await temporaryDirectory(t)];
  const lifeboat = { directory: boat, workers: 1, deadlineMs: 300, maxQueued: 64 };
  const build = (into: string, ageMs: number, ...titles: string[]) =>
    buildIndex({
      file: indexFileOf(into, DOMAIN.name),
      domain: DOMAIN,
      documents: titled(...titles),
      builtAtMs: NOW_MS - ageMs,
    });
  await build(directory, 60_000, 'чайник', 'гитара');
  await build(boat, 3_600_000, 'чайник');
  const facts = await readAll(t, [{ name: DOMAIN.name, engine: embedded(directory), lifeboat }]);
  assert.deepEqual(
    facts.map(({ name, indexStatus, indexAge }) => [
      name,
      known(indexStatus)?.['indexed_documents'],
      known(indexAge)?.seconds,
    ]),
    [
      ['engine of goods', '2', 60],
      ['lifeboat of goods', '1', 3600],
    ],
  );
});

test('a file that is missing, or is no index, is a missing part', async (t) => {
  const directory = await temporaryDirectory(t);
  const read = async (): Promise<string> => {
    const [facts] = await readAll(t, [{ name: DOMAIN.name, engine: embedded(directory) }]);
    return facts !== undefined && 'skipped' in facts.indexAge ? facts.indexAge.skipped : '';
  };
  assert.match(await read(), /ENOENT/);
  await writeFile(indexFileOf(directory, DOMAIN.name), 'no database');
  assert.match(await read(), /cannot be read/);
});
