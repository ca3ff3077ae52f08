import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { startRealtimeSearchd } from '../../../loadtest/stack/realtime.ts';
import { openConnection } from '../../../src/engines/sphinx/connection.ts';
import { describeIndex } from '../../../src/engines/sphinx/describe.ts';
import { createSphinxEngine } from '../../../src/engines/sphinx/engine.ts';
import { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN, engineContract } from '../../contract/engine.ts';
import { ask, type Searching } from '../../contract/engine-truth.ts';
import { pluck } from '../../pluck.ts';
import { LIMIT_MS } from '../../until.ts';
import { eachServer, engineDefaults, temporaryDirectory } from './harness.ts';

const INDEX = 'contract';
const HALF = CONTRACT_DOCUMENTS.length / 2;
const OUTDATED = CONTRACT_DOCUMENTS.filter((_, at) => at % 3 === 0).map(({ id }) => ({
  id,
  title: 'Товар гитара',
  description: 'Ждёт красный',
  attributes: { city: 'Омск', rooms: 9, sizes: ['m'] },
}));

eachServer((name, server) => {
  /** A table in memory and two parts on disk; those of its documents that stand in two of them have changed. */
  const open = async () => {
    const directory = await temporaryDirectory();
    const table = { directory, domain: CONTRACT_DOMAIN, index: INDEX, documents: OUTDATED, server };
    const { searchd, writer, stop } = await startRealtimeSearchd(table).catch(async (error: unknown) => {
      await rm(directory, { recursive: true });
      throw error;
    });
    const close = async (): Promise<void> => {
      await stop();
      await rm(directory, { recursive: true });
    };
    const flush = await openConnection(
      { host: '127.0.0.1', port: searchd.port, connectTimeoutMs: LIMIT_MS, onClose: () => {} },
      AbortSignal.timeout(LIMIT_MS),
    );
    for (const half of [CONTRACT_DOCUMENTS.slice(0, HALF), CONTRACT_DOCUMENTS.slice(HALF)]) {
      await flush.send(`FLUSH RAMCHUNK ${INDEX}`);
      await writer.replaceDocuments(half);
    }
    const [status = []] = await flush.send(`SHOW ${server.dialect === 'sphinx' ? 'INDEX' : 'TABLE'} ${INDEX} STATUS`);
    flush.destroy();
    return { status, writer, port: searchd.port, close };
  };

  describe(`a real-time table of ${name}`, () => {
    let table: Awaited<ReturnType<typeof open>>;
    before(async () => {
      table = await open();
    });
    after(() => table?.close());
    const engineOver = (onReplaced?: () => void) => {
      const defaults = engineDefaults(table.port, server);
      return createSphinxEngine({ ...defaults, domain: CONTRACT_DOMAIN, index: INDEX, onReplaced });
    };

    it('has two parts on disk', () => {
      assert.equal(new Map(table.status.map(([figure, value]) => [figure, value])).get('disk_chunks'), '2');
    });

    const openContract = async () => {
      const engine = engineOver();
      return { engine, close: engine.close };
    };
    // The server parses the queries of all its tables alike: contract.test.ts sends it every hostile text.
    engineContract(`the engine over a real-time table of ${name}`, openContract, { hostileShare: 0.1 });

    it('is described with the attributes of its domain', async () => {
      const described = await describeIndex(
        { host: '127.0.0.1', port: table.port },
        undefined,
        AbortSignal.timeout(LIMIT_MS),
      );
      assert.deepEqual([described.documents, described.idAttribute], [CONTRACT_DOCUMENTS.length, 'doc_id']);
      const names = pluck(CONTRACT_DOMAIN.attributes, 'name');
      assert.deepEqual(pluck(described.attributes, 'name').toSorted(), names.toSorted());
      assert.deepEqual([described.missing, described.notes], [[], []]);
    });

    // The last test: it changes documents of the contract.
    it('shows a replaced, a new and a deleted document at the next search, and none of them is a rotation', async (t) => {
      let rotations = 0;
      const engine = engineOver(() => {
        rotations += 1;
      });
      t.after(engine.close);
      const { writer } = table;
      const search: Searching = (request) => engine.search(request, AbortSignal.timeout(LIMIT_MS));
      const probe = () => engine.probe(AbortSignal.timeout(LIMIT_MS));
      const idsOf = async (text: string) => pluck((await search(ask(text))).results, 'id').toSorted();
      await probe();
      const changed = { id: 'generated-7', title: 'Переименовано', description: 'свежее', attributes: { rooms: 3 } };
      await writer.replaceDocuments([changed, { ...changed, id: 'new-1' }]);
      assert.deepEqual(await idsOf('свежее'), ['generated-7', 'new-1']);
      const [found] = (await search(ask('переименовано'))).results;
      assert.deepEqual([found?.title, found?.attributes], ['Переименовано', { rooms: 3 }]);
      await probe();
      await writer.deleteDocuments(['generated-7', 'nobody']);
      assert.deepEqual(await idsOf('свежее'), ['new-1']);
      await probe();
      assert.equal(rotations, 0);
    });
  });
});
