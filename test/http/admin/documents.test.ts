import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/load.ts';
import { buildSmallIndex, createServiceHere } from '../../fakes/small-service.ts';
import { temporaryFolder } from '../../folder.ts';
import { TOKEN } from './harness.ts';

const CONFIG = `
public: { maxLoopDelay: 1m, port: 0 }
admin: { port: 0 }
domains:
  goods:
    engine: { kind: sqlite, directory: index, workers: 1 }
    freshness: { ttl: 1h }
    changes: { onChange: miss }
    attributes: {}
`;

test('a document that is added, changed or deleted is right at the next request, on the page and in the API', async (t) => {
  const directory = temporaryFolder(t);
  const file = join(directory, 'serpcache.yaml');
  writeFileSync(file, CONFIG);
  const settings = loadSettings({ env: { SERPCACHE_CONFIG: file, ADMIN_TOKEN: TOKEN }, cwd: directory });
  await buildSmallIndex(settings, directory);
  const service = await createServiceHere(settings);
  t.after(service.close);
  const { publicUrl, adminUrl } = await service.listen();
  const send = async (line: object): Promise<void> => {
    const answer = await fetch(`${adminUrl}/admin/documents?domain=goods`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify(line),
    });
    assert.equal(answer.status, 202, await answer.clone().text());
    assert.partialDeepStrictEqual(await answer.json(), { taken: 1, refusedCount: 0 });
  };
  const q = encodeURIComponent('квантовый самовар');
  const shown = async () => {
    const answer = await fetch(`${publicUrl}/search?q=${q}`);
    const { total, results } = (await answer.json()) as { total: number; results: { title: string }[] };
    const page = await (await fetch(`${publicUrl}/?q=${q}`)).text();
    return {
      total,
      title: results[0]?.title,
      onPage: /Квантовый[^<]*самовар[^<]*/.exec(page.replaceAll(/<\/?em>/g, ''))?.[0],
    };
  };
  const hit = async (): Promise<string | null> =>
    (await fetch(`${publicUrl}/search?q=${q}`)).headers.get('cache-status');

  assert.deepEqual(await shown(), { total: 0, title: undefined, onPage: undefined });
  await send({ id: 'new', title: 'Квантовый самовар' });
  assert.deepEqual(await shown(), { total: 1, title: 'Квантовый самовар', onPage: 'Квантовый самовар' });
  assert.match((await hit()) ?? '', /hit/, 'the new page is kept');
  await send({ id: 'new', title: 'Квантовый двойной самовар' });
  assert.deepEqual(await shown(), {
    total: 1,
    title: 'Квантовый двойной самовар',
    onPage: 'Квантовый двойной самовар',
  });
  await send({ id: 'new', op: 'delete' });
  assert.deepEqual(await shown(), { total: 0, title: undefined, onPage: undefined });
});
