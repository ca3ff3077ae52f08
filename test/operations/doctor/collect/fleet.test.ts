import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { loadSettings } from '../../../../src/config/load.ts';
import type { Control } from '../../../../src/control/control.ts';
import { configurationDigest, createFleet, type Fleet } from '../../../../src/operations/doctor/collect/fleet.ts';
import { known } from '../../../../src/operations/doctor/facts.ts';
import { createMemoryControlStore } from '../../../../src/stores/memory/control-store.ts';
import { createFakeClock } from '../../../fakes/clock.ts';
import { idle } from '../../../fakes/idle.ts';
import { createFakeControl } from '../../../fakes/operations-control.ts';

/** As in control/create-control.ts. */
const REPORT_TTL_MS = 10_000;

interface Joining {
  readonly configuration?: string;
  readonly domains?: readonly string[];
  readonly shared?: boolean;
}

/** Processes around one control store, in virtual time. */
function createHarness(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const store = createMemoryControlStore({ clock });
  const made = {
    store,
    away: false,
    written: 0,
    join: (processId: string, own: Joining = {}): Fleet => {
      const { configuration = 'digest', domains = ['goods'], shared = true } = own;
      const controls = domains.map((domain): Pick<Control, 'state' | 'report' | 'reports'> => {
        const fake = createFakeControl();
        return {
          state: () => ({ ...fake.state(), shared }),
          report: async (id, value) => {
            made.written += 1;
            await store.report(domain, id, Buffer.from(JSON.stringify(value)), REPORT_TTL_MS, 0);
          },
          reports: async () => {
            const found = await store.reports(domain, 0);
            if (made.away || found.kind !== 'reports') return undefined;
            return new Map(found.reports.map(({ id, value }) => [id, JSON.parse(value.toString('utf8'))]));
          },
        };
      });
      const fleet = createFleet({
        processId,
        configuration,
        controls,
        clock,
        random: () => 0.5,
      });
      t.after(fleet.close);
      return fleet;
    },
    pass: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500);
        t.mock.timers.tick(500);
        await idle();
      }
    },
    ids: async (fleet: Fleet) => known(await fleet.read())?.map(({ id }) => id),
  };
  return made;
}

test('each process knows itself at once, and the others from their second report on', async (t) => {
  const made = createHarness(t);
  const a = made.join('a');
  made.join('b', { configuration: 'other' });
  assert.deepEqual(await a.read(), {
    known: [{ id: 'a', configuration: 'digest' }],
  });
  await made.pass(2000);
  assert.deepEqual(await made.ids(a), ['a'], 'one report may be of a dead process');
  await made.pass(8000);
  assert.deepEqual(known(await a.read())?.[1], { id: 'b', configuration: 'other' });
});

test('the reports outlive their lifetime in the store while processes report, and a silent process is left out', async (t) => {
  const made = createHarness(t);
  const [a, b] = [made.join('a'), made.join('b')];
  await made.pass(60_000);
  assert.deepEqual(await made.ids(a), ['a', 'b']);
  b.close();
  await made.pass(10_000);
  assert.deepEqual(await made.ids(a), ['a', 'b'], 'it may only be late');
  await made.pass(15_000);
  assert.deepEqual(await made.ids(a), ['a']);
});

test('a process that starts does not take the reports of dead ones for processes', async (t) => {
  const made = createHarness(t);
  const [a, b] = [made.join('a'), made.join('b', { configuration: 'old' })];
  await made.pass(20_000);
  b.close();
  const c = made.join('c');
  for (let passed = 0; passed < 30_000; passed += 5000) {
    await made.pass(5000);
    assert.ok(!(await made.ids(c))?.includes('b'));
  }
  assert.deepEqual(await made.ids(c), ['c', 'a']);
  assert.deepEqual(await made.ids(a), ['a', 'c']);
});

test('processes with different domains know each other by the one that they share', async (t) => {
  const made = createHarness(t);
  const a = made.join('a', { domains: ['goods', 'auto'] });
  made.join('b', { domains: ['auto', 'jobs'] });
  made.join('c', { domains: ['jobs'] });
  await made.pass(15_000);
  assert.deepEqual(await made.ids(a), ['a', 'b']);
});

test('without a shared control store a process is alone and reports nothing', async (t) => {
  const made = createHarness(t);
  const a = made.join('a', { shared: false });
  await made.pass(20_000);
  assert.deepEqual(await made.ids(a), ['a']);
  assert.equal(made.written, 0);
});

test('while the control store is away the fleet is not known', async (t) => {
  const made = createHarness(t);
  const a = made.join('a');
  await made.pass(10_000);
  made.away = true;
  assert.deepEqual(await a.read(), { skipped: 'the control store does not answer' });
  made.away = false;
  assert.deepEqual(await made.ids(a), ['a']);
});

test('reports of another format, damaged ones and other reports are left out', async (t) => {
  const made = createHarness(t);
  const a = made.join('a');
  const whole = { format: 1, configuration: 'x' };
  const planted = new Map<string, unknown>([
    ['doctor:format', { ...whole, format: 2 }],
    ['doctor:text', { ...whole, configuration: 'v'.repeat(65) }],
    ['doctor:none', 17],
    ['process:other', whole],
    [`doctor:${'i'.repeat(65)}`, whole],
    ['doctor:fine', whole],
  ]);
  for (const count of [1, 2, 3]) {
    for (const [id, value] of planted) {
      const text = JSON.stringify(typeof value === 'object' ? { ...value, count } : value);
      await made.store.report('goods', id, Buffer.from(text), REPORT_TTL_MS, 0);
    }
    await made.pass(5000);
  }
  assert.deepEqual(await made.ids(a), ['a', 'fine']);
});

const BASE = `public: { port: 80 }
signing: { key: "${'0123456789abcdef'.repeat(2)}" }
domains:
  goods:
    engine: { kind: sphinx, host: 10.0.0.9 }
    store: { kind: cluster, nodes: ["a:1", "b:1"], password: secret }
    freshness: { ttl: 2m }
`;
const digest = (yaml: string, env: Readonly<Record<string, string>> = {}): string =>
  configurationDigest(
    loadSettings({
      env: { SERPCACHE_CONFIG: 'c.yaml', ...env },
      cwd: '/srv',
      readFile: (path) => (path.endsWith('.yaml') ? yaml : '-----BEGIN CERTIFICATE-----'),
    }),
  );

test('processes have one digest whatever their addresses, secrets, paths and order of members', () => {
  assert.match(digest(BASE), /^[\w-]{16}$/);
  for (const [what, same] of [
    ['port', BASE.replace('port: 80', 'port: 81')],
    ['secret', BASE.replace('secret', 'another')],
    ['key', BASE.replace('0123', '3210')],
    ['TLS', BASE.replace('password: secret', 'tls: { ca: ca.pem }')],
    ['nodes', BASE.replace('["a:1", "b:1"]', '["b:1", "a:1"]')],
    ['members', BASE.replace('kind: sphinx, host: 10.0.0.9', 'host: 10.0.0.9, kind: sphinx')],
    ['log and paths', `${BASE}log: { level: warn }\naudit: { file: /x }\ndrills: { directory: /y }\n`],
    ['units', BASE.replace('2m', '120s')],
  ] as const) {
    assert.equal(digest(same), digest(BASE), what);
  }
  assert.equal(digest(BASE, { LOG_LEVEL: 'debug', PORT: '8090' }), digest(BASE));
});

test('a different policy, store, engine or limit is another digest', () => {
  const different = [
    BASE.replace('2m', '3m'),
    BASE.replace('"b:1"', '"c:1"'),
    BASE.replace('10.0.0.9', '10.0.0.8'),
    BASE.replace('port: 80', 'port: 80, maxInFlight: 50'),
    `${BASE}  auto: { engine: { kind: sphinx, host: 10.0.0.9 } }\n`,
  ].map((yaml) => digest(yaml));
  assert.equal(new Set([...different, digest(BASE)]).size, different.length + 1);
});
