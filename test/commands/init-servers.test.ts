import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type RedisStack, startCluster, startSentinel, startStandalone } from '../../loadtest/stack/redis.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { DomainSettings } from '../../src/config/settings.ts';
import { describeIndex } from '../../src/engines/sphinx/describe.ts';
import { eachServer, openSphinx } from '../engines/sphinx/harness.ts';
import { startFakeSearchd } from '../fakes/searchd.ts';
import { temporaryFolder } from '../folder.ts';
import { pluck } from '../pluck.ts';
import { type CliCall, callCli } from './harness.ts';

const folder = temporaryFolder({ after });
const path = (name: string): string => join(folder, name);

let made = 0;
/** Runs `init`, and reads the configuration that it wrote. */
async function initialize(words: readonly string[], calling: CliCall = {}) {
  made += 1;
  const directory = path(`made-${made}`);
  await mkdir(directory);
  const out = join(directory, 'own.yaml');
  const called = await callCli(['init', ...words, '--out', out], calling);
  const files = readdirSync(directory);
  const env = { SERPCACHE_CONFIG: out, STORE_PASSWORD: 'a-password' };
  const domains = files.length === 0 ? [] : loadSettings({ env, cwd: folder }).domains;
  return { ...called, files, domain: domains[0] as DomainSettings, text: () => readFileSync(out, 'utf8') };
}

test('a server that does not answer is named, and nothing is written', async () => {
  for (const [words, said] of [
    [['--engine', 'sphinx://127.0.0.1:1/goods'], /the engine at 127\.0\.0\.1:1: .*ECONNREFUSED.*; nothing was written/],
    [['--store', 'redis://127.0.0.1:1'], /the store: 127\.0\.0\.1:1: .*ECONNREFUSED.*; nothing was written/],
    [['--store', 'sentinel://127.0.0.1:1/main'], /the store: 127\.0\.0\.1:1: .*ECONNREFUSED.*; nothing was written/],
  ] as const) {
    const { code, err, files } = await initialize(words);
    assert.deepEqual([code, files], [3, []], err);
    assert.match(err, said);
  }
});

test('an answer that cannot be used is told at once, and asked for again', async () => {
  const answers = ['mysql://x', 'sphinx://127.0.0.1:1', 'embedded', 'redis://127.0.0.1:1', '', '/no/such.csv', ''];
  const { code, questions, err, domain } = await initialize([], { answers });
  assert.equal(code, 0, err);
  assert.deepEqual(
    questions.map((question) => question[0]),
    ['1', '1', '1', '2', '2', '3', '3'],
  );
  for (const said of ['not "mysql://x"', '127.0.0.1:1: connect ECONNREFUSED', '/no/such.csv: cannot be read'])
    assert.ok(err.includes(said), `${said}: ${err}`);
  assert.equal(domain.name, 'goods');
});

test('three answers at a terminal are as good as the options, and the demo needs none', async () => {
  const { code, questions, domain, err } = await initialize([], { answers: ['', ' none ', ''] });
  assert.equal(code, 0, err);
  assert.equal(questions.length, 3);
  assert.deepEqual([domain.name, domain.engine.kind, domain.store.kind], ['goods', 'sqlite', 'none']);
  assert.ok(domain.engine.kind === 'sqlite' && domain.engine.demo);
  const [demo] = loadSettings({ env: {}, cwd: folder }).domains;
  assert.deepEqual(domain.attributes, demo?.attributes);
});

test('a server that greets and then says nothing is left after a while', async (t) => {
  const silent = await startFakeSearchd({ answer: () => undefined });
  t.after(silent.stop);
  const asked = describeIndex({ host: '127.0.0.1', port: silent.port, deadlineMs: 100 }, 'goods', t.signal);
  await assert.rejects(asked, /closed|no connection within 100 ms/);
});

eachServer((title, server) => {
  describe(`init over ${title}`, () => {
    const kind = title.toLowerCase();
    let sphinx: Awaited<ReturnType<typeof openSphinx>>;
    let address = '';
    before(async () => {
      const attributes = [
        { name: 'brand', type: 'string', facet: true, sort: false },
        { name: 'tags', type: 'string', multiple: true, facet: true, sort: false },
        { name: 'sizes', type: 'integer', multiple: true, facet: true, sort: false },
        { name: 'price', type: 'number', facet: false, sort: true },
        { name: 'year', type: 'integer', facet: false, sort: true },
      ] as const;
      const documents = [{ id: 'a', title: 'red', description: '', attributes: { brand: 'x', price: 1.5 } }];
      sphinx = await openSphinx({
        server,
        domains: ['shop', 'other'].map((index) => ({
          domain: { name: index, attributes, context: [], answerProfile: '' },
          index,
          documents,
        })),
      });
      address = `${kind}://127.0.0.1:${sphinx.searchd.port}`;
    });
    after(async () => {
      await sphinx?.searchd.stop();
      await sphinx?.remove();
    });

    test('the attributes of an index are declared, with their types, and its own ids are used', async () => {
      const { code, out, err, domain } = await initialize(['--engine', `${address}/shop`]);
      assert.equal(code, 0, err);
      assert.match(
        out,
        new RegExp(`^engine {5}${kind} [\\d.]+ .*at 127.*: index shop with 1 documents and 5 attributes$`, 'm'),
      );
      assert.ok(domain.engine.kind !== 'sqlite');
      assert.deepEqual([domain.engine.kind, domain.engine.idAttribute], [kind, 'doc_id']);
      assert.deepEqual(
        domain.attributes
          .map(({ name, type, multiple, facet, sort }) => [name, type, multiple, facet, sort])
          .toSorted(),
        [
          ['brand', 'string', undefined, true, false],
          ['price', 'number', undefined, false, true],
          ['sizes', 'integer', true, true, false],
          ['tags', 'string', true, true, false],
          ['year', 'integer', undefined, false, true],
        ],
      );
    });

    test('a catalogue beside it gives labels and types to the attributes that the index has', async () => {
      writeFileSync(path('shop.csv'), 'id,title,Brand,colour,year\n1,a,x,red,2019\n2,b,x,blue,2020\n');
      const { code, err, domain, text } = await initialize([
        '--engine',
        `${address}/shop`,
        '--catalogue',
        path('shop.csv'),
      ]);
      assert.equal(code, 0, err);
      assert.deepEqual(pluck(domain.attributes, 'name').toSorted(), ['brand', 'price', 'sizes', 'tags', 'year']);
      assert.match(err, /column colour is left out: the index has no such attribute/);
      assert.match(text(), /^ {4}# {3}"colour": the index has no such attribute$/m);
      assert.equal(domain.attributes.find(({ name }) => name === 'year')?.facet, false);
    });

    test('an index that is not there is told with those that are', async () => {
      for (const [asked, said] of [
        ['/goods', /it has no index "goods": .*shop/],
        ['', /name one of its indexes: .*shop/],
      ] as const) {
        const { code, err, files } = await initialize(['--engine', `${address}${asked}`]);
        assert.deepEqual([code, files], [3, []], err);
        assert.match(err, said);
      }
    });

    test('the other server under this address is told', async () => {
      const other = kind === 'sphinx' ? 'manticore' : 'sphinx';
      const { code, err } = await initialize(['--engine', `${address.replace(kind, other)}/shop`]);
      assert.equal(code, 3);
      assert.match(err, new RegExp(`is ${kind} .*: say ${kind}://127.*/shop; nothing was written`));
    });
  });
});

describe('init over stores', () => {
  let [alone, cluster, watched]: readonly (RedisStack | undefined)[] = [];
  const acl = { username: 'ana', password: 'a-password', rules: '~* +@all' };
  before(async () => {
    [alone, cluster, watched] = await Promise.all([
      startStandalone({ flavour: 'redis', acl, config: ['maxmemory 64mb', 'maxmemory-policy noeviction'] }),
      startCluster({ flavour: 'valkey', masters: 3 }),
      startSentinel({ flavour: 'redis' }),
    ]);
  });
  after(() => Promise.all([alone, cluster, watched].map((stack) => stack?.stop())));
  const addressOf = (stack: RedisStack | undefined): string => stack?.nodes[0].address ?? '';

  test('a cluster is recognised, and named with its nodes', async () => {
    const { code, out, err, domain } = await initialize(['--store', `redis://${addressOf(cluster)}`]);
    assert.equal(code, 0, err);
    assert.match(out, /^store {6}Valkey \d+\.\d+\.\d+ at .*, a cluster of 3 masters; /m);
    assert.equal(domain.store.kind, 'cluster');
    const numbered = await initialize(['--store', `redis://${addressOf(cluster)}/2`]);
    assert.match(numbered.err, /is of a cluster, which has one database: leave \/2 out; nothing was written/);
  });

  test('a password comes from a variable, and never stands in the file', async () => {
    const address = `redis://ana@${addressOf(alone)}/1`;
    const refused = await initialize(['--store', address]);
    assert.deepEqual([refused.code, refused.files], [3, []]);
    assert.match(refused.err, /the password is that of the variable STORE_PASSWORD, the user that of the address/);
    const { code, out, err, domain, text } = await initialize(['--store', address], { storePassword: acl.password });
    assert.equal(code, 0, err);
    assert.match(out, /one server; 64\.00M of memory, noeviction: a cache needs allkeys-lru/);
    assert.ok(domain.store.kind === 'standalone' && domain.store.database === 1 && domain.store.username === 'ana');
    assert.match(text(), /password: "\$\{STORE_PASSWORD\}"/);
    assert.doesNotMatch(text(), /a-password/);
  });

  test('a replica, a sentinel and a database that is not there are refused', async () => {
    const stack = watched as Awaited<ReturnType<typeof startSentinel>>;
    for (const [address, said] of [
      [stack.nodes[1]?.address, `is a replica: give its master, ${stack.nodes[0].address}`],
      [stack.sentinels[0]?.address, 'is a sentinel: say sentinel://'],
      [`${stack.nodes[0].address}/77`, 'database 77: '],
    ] as const) {
      const { code, err, files } = await initialize(['--store', `redis://${address}`]);
      assert.deepEqual([code, files], [3, []], err);
      assert.ok(err.includes(said) && err.includes('nothing was written'), err);
    }
  });

  test('two servers that are no cluster are refused', async () => {
    const nodes = pluck(watched?.nodes ?? [], 'address').join(',');
    const { code, err } = await initialize(['--store', `redis://${nodes}`]);
    assert.equal(code, 3);
    assert.match(err, /is of no cluster: give one address; nothing was written/);
  });

  test('a master is asked for at its sentinels', async () => {
    const sentinels = (watched as Awaited<ReturnType<typeof startSentinel>>).sentinels;
    const address = `sentinel://${pluck(sentinels, 'address').join(',')}/serpcache`;
    const { code, out, err, domain } = await initialize(['--store', address]);
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`^store {6}Redis .* at ${addressOf(watched)}, the master of the sentinels; `, 'm'));
    assert.ok(domain.store.kind === 'sentinel' && domain.store.sentinels.length === 3);
  });
});
