import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CONFIG_NAMES, COST_MS, createStoreCollector } from '../../../../src/operations/doctor/collect/store.ts';
import type { NodeFacts, Snapshot } from '../../../../src/operations/doctor/facts.ts';
import { createFakeClock } from '../../../fakes/clock.ts';
import { rowsOf } from '../../../pluck.ts';
import { told } from '../harness.ts';
import {
  ADDRESS,
  createRecordedProbe,
  KEYDB_6_3,
  MANAGED,
  NO_CONFIG,
  REDIS_5,
  REDIS_6_2,
  REDIS_7,
  type RecordedServer,
} from '../recorded/servers.ts';

/** A collector of one recorded master, or of one that does not answer. */
function over(server: RecordedServer | undefined, { tookMs = 0 }: { readonly tookMs?: number } = {}) {
  const clock = createFakeClock();
  const node = { address: ADDRESS, role: 'master', ...(server && { server }) } as const;
  const recorded = createRecordedProbe({ clock, nodes: [node], tookMs });
  const collector = createStoreCollector({ probe: recorded.probe, clock, wait: async (ms) => clock.advance(ms) });
  const look = async (depth: Snapshot['depth'] = 'full'): Promise<NodeFacts> => {
    const { nodes } = await collector.read(depth);
    const [first, ...others] = told(nodes);
    assert.ok(first !== undefined && others.length === 0);
    return first;
  };
  const count = (name: string): number => recorded.sent(ADDRESS).filter((sent) => sent === name).length;
  return { ...recorded, clock, collector, node, look, count };
}

function reason(part: object): string {
  return 'skipped' in part ? String(part.skipped) : assert.fail('it is known');
}

const withClients = (server: RecordedServer, count: number): RecordedServer => ({
  ...server,
  info: server.info.replace('connected_clients:2', `connected_clients:${count}`),
});
/** Cheap looks are always made. The node cannot have saved more than 15 ms. */
const spendBudget = async (look: (depth: 'cheap') => Promise<unknown>): Promise<void> => {
  for (let at = 0; at < 15 / COST_MS.info; at += 1) await look('cheap');
};
const BUDGET = 'the budget of 10 ms a second is spent';

describe('store collector', () => {
  for (const [name, server] of [
    ['Redis 5', REDIS_5],
    ['Redis 6.2', REDIS_6_2],
    ['Redis 7', REDIS_7],
    ['KeyDB 6.3', KEYDB_6_3],
  ] as const) {
    test(`every part of ${name} is known, its directives too`, async () => {
      const { look, count } = over(server);
      const facts = await look();
      const info = told(facts.info);
      assert.deepEqual([info['executable'], info['config_file']], [undefined, undefined]);
      assert.equal(info['cmdstat_get'], 'calls=9,usec=40');
      assert.deepEqual(told(facts.config), server.config);
      assert.equal(count('CONFIG GET'), server.maxConfigNames === 1 ? CONFIG_NAMES.length : 1);
      assert.deepEqual(rowsOf(told(facts.slowlog), 'command', 'client'), [['GET', 'worker']]);
      assert.equal(told(facts.latency)[0]?.maxMs, 120);
      assert.equal(told(facts.memoryAdvice), server.memoryDoctor);
      assert.equal(told(facts.clients).count, 1);
      assert.equal(told(facts.rtt).length, 20);
      assert.equal(reason(facts.cluster), 'it is in no cluster');
    });
  }

  test('errors are counted by Redis 6.2, and missing without a trace in Redis 5', async () => {
    assert.equal(told((await over(REDIS_6_2).look('cheap')).info)['errorstat_ERR'], 'count=3');
    const old = told((await over(REDIS_5).look('cheap')).info);
    assert.ok(!Object.keys(old).some((field) => field.startsWith('errorstat_')));
  });

  test('a service without CONFIG is asked for it once a look, and everything else is known', async () => {
    const { look, count } = over(MANAGED);
    const { config, ...others } = await look();
    assert.equal(reason(config), `CONFIG GET is refused: ${NO_CONFIG.slice(0, 120)}`);
    assert.equal(count('CONFIG GET'), 1);
    const { info, slowlog, memoryAdvice, clients, keys } = others;
    for (const part of [info, slowlog, memoryAdvice, clients, keys]) assert.ok('known' in part);
    const old = over({ ...REDIS_5, refused: { CONFIG: NO_CONFIG } });
    assert.ok(reason((await old.look()).config).startsWith('CONFIG GET is refused: ERR unknown command'));
    assert.equal(old.count('CONFIG GET'), 1);
  });

  test('a relative of Redis 7 that takes one directive at a time is asked again in that way', async () => {
    const { look, count } = over({ ...REDIS_7, maxConfigNames: 1 });
    assert.deepEqual(told((await look()).config), REDIS_7.config);
    assert.equal(count('CONFIG GET'), 1 + CONFIG_NAMES.length);
  });

  test('each refused part has the server’s words, and refuses no other part', async () => {
    const forbidden = 'NOPERM this user has no permissions to run the command';
    const parts = {
      config: 'CONFIG GET',
      slowlog: 'SLOWLOG GET',
      latency: 'LATENCY LATEST',
      memoryAdvice: 'MEMORY DOCTOR',
      clients: 'CLIENT LIST',
      keys: 'SCAN',
    } as const;
    for (const [part, command] of Object.entries(parts)) {
      const facts = await over({ ...REDIS_7, refused: { [command]: forbidden } }).look();
      for (const name of Object.keys(parts) as (keyof typeof parts)[]) {
        if (name === part) assert.equal(reason(facts[name]), `${command} is refused: ${forbidden}`);
        else assert.ok('known' in facts[name], name);
      }
    }
  });

  test('names of secrets and paths are not among the directives', () => {
    for (const name of CONFIG_NAMES) assert.doesNotMatch(name, /pass|auth|user|key(?!space|s|alive)|file|^dir$/);
  });

  test('MEMORY DOCTOR is cut to 500 characters', async () => {
    const { memoryAdvice } = await over({ ...REDIS_7, memoryDoctor: 'x'.repeat(2000) }).look();
    assert.equal(told(memoryAdvice).length, 500);
  });

  test('the clock of the server is compared with the middle of the round trip', async () => {
    assert.equal(Math.round(told((await over(REDIS_7).look('cheap')).clockOffsetMs)), 250);
  });

  test('a cheap look asks for INFO, PING and TIME only', async () => {
    const { look, sent } = over(REDIS_7);
    const facts = await look('cheap');
    assert.deepEqual([...new Set(sent(ADDRESS))].sort(), ['INFO', 'PING', 'TIME']);
    assert.equal(told(facts.rtt).length, 5);
    assert.equal(reason(facts.config), 'cheap');
  });

  test('a node that does not answer is asked once, and each of its parts has the reason', async () => {
    const { look, sent } = over(undefined);
    const { address, role, ...parts } = await look();
    assert.deepEqual([address, role], [ADDRESS, 'master']);
    for (const part of Object.values(parts)) assert.equal(reason(part), 'connect ECONNREFUSED 10.0.0.9:6379');
    assert.deepEqual(sent(ADDRESS), ['INFO', 'INFO', 'INFO']);
  });

  test('nodes that nobody tells are a skipped part', async () => {
    const { collector, setNodes } = over(REDIS_7);
    setNodes({ skipped: 'no node told the others' });
    assert.deepEqual((await collector.read('full')).nodes, { skipped: 'no node told the others' });
  });

  test('keys of replicas and data of sentinels are not asked for', async () => {
    const { collector, setNodes, sent } = over(REDIS_7);
    setNodes({
      known: [
        { address: '10.0.0.1:6379', role: 'replica', server: REDIS_7 },
        { address: '10.0.0.2:26379', role: 'sentinel', server: REDIS_7 },
      ],
    });
    const [replica, sentinel] = told((await collector.read('full')).nodes);
    assert.ok(replica && sentinel);
    assert.equal(reason(replica.keys), 'the keys of its master are sampled');
    told(replica.clients);
    assert.equal(reason(sentinel.clients), 'a sentinel keeps no data');
    assert.ok(!sent('10.0.0.1:6379').includes('SCAN'));
    assert.deepEqual([...new Set(sent('10.0.0.2:26379'))].sort(), ['INFO', 'PING', 'TIME']);
  });

  test('CLIENT LIST is not asked from 5,000 clients on', async () => {
    const full = over(withClients(REDIS_7, 5000));
    assert.equal(reason((await full.look()).clients), '5000 clients: CLIENT LIST is asked below 5000');
    assert.equal(full.count('CLIENT LIST'), 0);
    const below = over(withClients(REDIS_7, 4999));
    told((await below.look()).clients);
    assert.equal(below.count('CLIENT LIST'), 1);
  });

  test('pages without an expiry are counted, the control document and foreign keys are not', async () => {
    const keys = told((await over(REDIS_7).look()).keys);
    assert.deepEqual([keys.sampled, keys.total, keys.ours, keys.oursWithoutExpiry, keys.foreign], [4, 4, 3, 1, 1]);
    assert.deepEqual(keys.biggest[0], { name: 'cart:9', type: 'hash', bytes: 300_000 });
    assert.deepEqual(keys.longest, [{ name: 'cart:9', type: 'hash', bytes: 300_000, members: 5000 }]);
    assert.equal(keys.sizes.find(({ maxBytes }) => maxBytes === 10_240)?.count, 2);
  });

  test('without MEMORY USAGE a text has its length, and without TYPE nothing is known of the keys', async () => {
    const keys = told((await over({ ...REDIS_7, refused: { 'MEMORY USAGE': 'NOPERM' } }).look()).keys);
    assert.equal(keys.biggest[0]?.bytes, 4000);
    assert.equal(
      reason((await over({ ...REDIS_7, refused: { TYPE: 'NOPERM' } }).look()).keys),
      'TYPE is refused: NOPERM',
    );
  });
});

describe('the budget of the store collector', () => {
  test('without time between looks, parts are the last known ones, and skipped after a minute', async () => {
    const { look, clock, count, forget } = over(withClients(REDIS_7, 3000));
    const first = await look();
    for (let at = 0; at < 3; at += 1) await look();
    forget();
    const later = await look();
    assert.equal(count('CLIENT LIST') + count('SCAN'), 0);
    assert.deepEqual([later.clients, later.keys], [first.clients, first.keys]);
    assert.ok(told(later.info));
    clock.advance(61_000);
    await spendBudget(look);
    assert.equal(reason((await look()).clients), BUDGET);
    clock.advance(3000);
    assert.notEqual((await look()).clients, first.clients);
  });

  test('a node that was never looked at in full has no last known part', async () => {
    const { look } = over(REDIS_7);
    await spendBudget(look);
    const { clients, keys } = await look();
    for (const part of [clients, keys]) assert.equal(reason(part), BUDGET);
  });

  test('clients and keys take turns when each second pays for one of them', async () => {
    const { look, clock, count, forget } = over(withClients(REDIS_7, 3000));
    for (let at = 0; at < 6; at += 1) await look();
    forget();
    const startedMs = clock.monotonicMs();
    for (let at = 0; at < 12; at += 1) {
      clock.advance(500);
      await look();
    }
    assert.ok(count('CLIENT LIST') >= 2 && count('SCAN') >= 2, `${count('CLIENT LIST')} and ${count('SCAN')}`);
    const spentMs = count('CLIENT LIST') * 3000 * COST_MS.client + count('SCAN') * 500 * COST_MS.key;
    const seconds = (clock.monotonicMs() - startedMs) / 1000;
    assert.ok(spentMs <= 5 * seconds, `${spentMs} ms in ${seconds} s`);
  });

  test('a node that left and came back is a new one', async () => {
    const { collector, look, setNodes, node, count, forget } = over(withClients(REDIS_7, 3000));
    for (let at = 0; at < 4; at += 1) await look();
    setNodes({ known: [] });
    assert.deepEqual(told((await collector.read('full')).nodes), []);
    setNodes({ known: [node] });
    forget();
    await look();
    assert.equal(count('CLIENT LIST'), 1);
  });
});

describe('the time of the store collector', () => {
  for (const tookMs of [2000, 700, 150]) {
    test(`a read takes at most five seconds when every call takes ${tookMs} ms`, async () => {
      const { look, clock } = over(REDIS_7, { tookMs });
      const startedMs = clock.monotonicMs();
      const facts = await look();
      const took = clock.monotonicMs() - startedMs;
      assert.ok(took <= 5000, `${took} ms`);
      assert.ok('known' in facts.info);
      // The first call told the fields and used up the time.
      if (tookMs < 1500) assert.ok(told(facts.rtt).every((ms) => ms === tookMs));
      if (tookMs > 500) assert.equal(reason(facts.keys), 'there was no time left for it');
    });
  }

  test('nodes are read at the same time, and those without a turn within the time say so', async () => {
    const { collector, setNodes } = over(REDIS_7, { tookMs: 400 });
    setNodes({ known: Array.from({ length: 40 }, (_, at) => ({ address: `10.0.1.${at}:6379`, role: 'master' })) });
    const nodes = told((await collector.read('cheap')).nodes);
    assert.equal(nodes.length, 40);
    assert.equal(reason(nodes[39]?.info ?? {}), 'there was no time left for it');
  });

  test('a slow network shortens the series of PINGs, and leaves time for the other parts', async () => {
    const { look } = over(REDIS_7, { tookMs: 100 });
    const { rtt, config, clients } = await look();
    const count = told(rtt).length;
    assert.ok(count >= 5 && count < 20, `${count} PINGs`);
    told(config);
    told(clients);
  });
});
