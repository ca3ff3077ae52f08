import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { openConnection, type ResultSets } from '../../../src/engines/sphinx/connection.ts';
import { createSphinxEngine } from '../../../src/engines/sphinx/engine.ts';
import { createRotationWatch } from '../../../src/engines/sphinx/rotation.ts';
import { writeSphinxSource } from '../../../src/engines/sphinx/source.ts';
import { SearchError } from '../../../src/resilience/search-error.ts';
import type { Document, SearchDomain } from '../../../src/search/domain.ts';
import { LIMIT_MS, until } from '../../until.ts';
import { eachServer, engineDefaults, temporaryDirectory } from './harness.ts';

const DOMAIN: SearchDomain = {
  name: 'goods',
  attributes: [{ name: 'price', type: 'integer', facet: false, sort: true }],
  context: [],
  answerProfile: '',
};
const goods = (change: (index: number) => Partial<Document> = () => ({})): readonly Document[] =>
  Array.from({ length: 50 }, (_, index) => ({
    id: `${index + 1}`,
    title: `Чайник ${index}`,
    description: 'белый',
    attributes: { price: 100 },
    ...change(index),
  }));

eachServer((name, server) => {
  /** A searchd with `goods`, `others`, and both as the local parts of `both`; counts what each engine has seen. */
  const open = async (t: TestContext) => {
    const directory = await temporaryDirectory();
    t.after(() => rm(directory, { recursive: true, force: true }));
    const [port = 0] = await freePorts(1);
    const write = async (documents: readonly Document[]): Promise<string> => {
      const domains = ['goods', 'others'].map((index) => ({ domain: DOMAIN, index, documents: goods() }));
      const { configFile } = await writeSphinxSource({
        directory,
        domains: domains.map((one) => (one.index === 'goods' ? { ...one, documents } : one)),
        searchd: { dialect: server.dialect, host: '127.0.0.1', port, maxConnections: 32 },
      });
      const both = 'index both\n{\n  type = distributed\n  local = others\n  local = goods\n}\n';
      await writeFile(configFile, `${await readFile(configFile, 'utf8')}\n${both}`);
      return configFile;
    };
    const options = { directory, from: { configFile: await write(goods()), port }, server };
    let searchd = await startSearchd(options);
    const engines = ['goods', 'others', 'both'].map((index) => {
      const seen = { rotations: 0 };
      const onReplaced = (): void => {
        seen.rotations += 1;
      };
      const engine = createSphinxEngine({ ...engineDefaults(port, server), domain: DOMAIN, index, onReplaced });
      return { engine, seen };
    });
    t.after(async () => {
      await Promise.all(engines.map(({ engine }) => engine.close()));
      await searchd.stop();
    });
    const end = async (): Promise<void> => {
      // After SIGTERM Sphinx waits three seconds.
      searchd.process.signal('SIGKILL');
      await searchd.process.ended;
    };
    return {
      port,
      /** Rotations that `goods`, `others` and `both` have seen, after one more probe of each. */
      seen: async (): Promise<readonly number[]> => {
        // A server that has just started may not greet in time.
        for (const { engine } of engines) await until('a probe', () => engine.probe(AbortSignal.timeout(LIMIT_MS)));
        return engines.map(({ seen }) => seen.rotations);
      },
      rotate: async (documents: readonly Document[]): Promise<void> => {
        await write(documents);
        await searchd.rotate();
      },
      restart: async (built: boolean): Promise<void> => {
        await end();
        searchd = await startSearchd({ ...options, built });
      },
      write,
    };
  };

  describe(`a rotation of ${name}`, () => {
    it('is seen once by the next probe of the index and of a distributed index over it', async (t) => {
      const { seen, rotate } = await open(t);
      assert.deepEqual(await seen(), [0, 0, 0]);
      await rotate(goods().slice(1));
      assert.deepEqual(await seen(), [1, 0, 1]);
      assert.deepEqual(await seen(), [1, 0, 1]);
      await rotate(goods());
      assert.deepEqual(await seen(), [2, 0, 2]);
    });

    it('is seen where as many documents have other words of the same length, or other prices', async (t) => {
      const { seen, rotate } = await open(t);
      await seen();
      await rotate(goods((index) => (index < 5 ? { description: 'серый' } : {})));
      assert.deepEqual(await seen(), [1, 0, 1]);
      await rotate(goods((index) => ({ description: 'серый', attributes: { price: 200 + index } })));
      assert.deepEqual(await seen(), [2, 0, 2]);
    });

    it('is none where the documents are the same, where attributes are updated, and at a restart', async (t) => {
      const { port, seen, rotate, restart } = await open(t);
      await seen();
      await rotate(goods());
      assert.deepEqual(await seen(), [0, 0, 0]);
      const options = { host: '127.0.0.1', port, connectTimeoutMs: LIMIT_MS, onClose: () => {} };
      const client = await openConnection(options, new AbortController().signal);
      t.after(() => client.destroy());
      await client.send('UPDATE goods SET price=7 WHERE id=1');
      await client.send('FLUSH ATTRIBUTES');
      assert.deepEqual(await seen(), [0, 0, 0]);
      await restart(true);
      assert.deepEqual(await seen(), [0, 0, 0]);
    });

    it('is seen where searchd was restarted over another index', async (t) => {
      const { seen, restart, write } = await open(t);
      await seen();
      await write(goods().slice(3));
      await restart(false);
      assert.deepEqual(await seen(), [1, 0, 1]);
    });
  });
});

/** A watch over a server with these statements; the others are refused. */
function watchOver(index: string, replies: Readonly<Record<string, readonly (readonly string[])[]>>) {
  const asked = new Map(Object.entries(replies));
  let rotations = 0;
  const watch = createRotationWatch({ index, dialect: 'manticore' }, () => {
    rotations += 1;
  });
  const send = async (sql: string): Promise<ResultSets> => {
    const rows = asked.get(sql);
    if (rows === undefined) throw new SearchError('engine-rejected', `refused: ${sql}`);
    return [rows];
  };
  return {
    asked,
    read: async (): Promise<number> => {
      await watch(send);
      return rotations;
    },
  };
}

const status = (type: string, documents: number): readonly (readonly string[])[] => [
  ['table_type', type],
  ['indexed_documents', `${documents}`],
  ['indexed_bytes', '9'],
  ['disk_bytes', '99'],
];

it('figures that are refused once are compared with those from before', async () => {
  const { asked, read } = watchOver('a, b', {
    'DESCRIBE a': [['id', 'bigint']],
    'DESCRIBE b': [['id', 'bigint']],
    'SHOW TABLE a STATUS': status('disk', 5),
    'SHOW TABLE b STATUS': status('rt', 5),
  });
  assert.equal(await read(), 0);
  asked.delete('SHOW TABLE a STATUS');
  await assert.rejects(read(), /refused/);
  asked.set('SHOW TABLE a STATUS', status('disk', 5)).set('SHOW TABLE b STATUS', status('rt', 6));
  assert.equal(await read(), 0);
  asked.set('SHOW TABLE a STATUS', status('disk', 6));
  assert.equal(await read(), 1);
});

it('agents of a distributed index are not asked for figures, and its local real-time tables change without a rotation', async () => {
  const { asked, read } = watchOver('all', {
    'DESCRIBE all': [
      ['plain', 'local'],
      ['live', 'local'],
      ['10.0.0.7:9312:goods', 'remote_1_mirror_1'],
    ],
    'SHOW TABLE plain STATUS': status('disk', 5),
    'SHOW TABLE live STATUS': status('rt', 5),
  });
  assert.equal(await read(), 0);
  asked.set('SHOW TABLE live STATUS', status('rt', 8));
  assert.equal(await read(), 0);
  asked.set('SHOW TABLE plain STATUS', status('disk', 4));
  assert.equal(await read(), 1);
});
