import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePorts } from '../../loadtest/stack/process.ts';
import { type RunningSearchd, startSearchd } from '../../loadtest/stack/sphinx.ts';
import { parseArguments, UsageError } from '../../src/commands/arguments.ts';
import type { Command } from '../../src/commands/command.ts';
import { sphinxSource } from '../../src/commands/config.ts';
import { indexCatalogue } from '../../src/commands/index-catalogue.ts';
import type { ParityReport } from '../../src/commands/parity/report.ts';
import { parity } from '../../src/commands/parity.ts';
import { loadSettings } from '../../src/config/load.ts';
import { systemClock } from '../../src/runtime.ts';
import { canonicalText } from '../../src/search/canonical.ts';
import type { Document } from '../../src/search/domain.ts';
import { corpora, evenly, searchesOf } from '../corpus.ts';

/** Enough documents for a one-word search to have more results of equal weight than a page shows. */
const DOCUMENTS = 2500;
const QUERIES = 200;

/** One catalogue is indexed for two engines with two commands, as an operator does it. */
for (const corpus of corpora('goods')) {
  describe(`parity of searchd and its lifeboat over ${corpus.name}`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'serpcache-parity-'));
    const path = (name: string): string => join(directory, name);
    let searchd: RunningSearchd;
    let port: number;
    let queries: number;

    before(async () => {
      const documents = evenly(await corpus.documents(), DOCUMENTS);
      writeRows(path('goods.ndjson'), documents);
      writeRows(path('half.ndjson'), documents.slice(0, DOCUMENTS / 2));
      const asked = [...evenly(await corpus.searches(), QUERIES / 2), ...searchesOf(documents, QUERIES)];
      const distinct = [...new Set(asked.map((text) => canonicalText(text)))].slice(0, QUERIES);
      writeFileSync(path('queries.tsv'), distinct.join('\n'));
      queries = distinct.length;
      [port = 0] = await freePorts(1);
      await run(indexCatalogue, ['goods', path('goods.ndjson')]);
      await run(sphinxSource, ['--out', path('sphinx'), '--port', String(port), `goods=${path('goods.ndjson')}`]);
      const from = { configFile: path('sphinx/sphinx.conf'), port };
      searchd = await startSearchd({ directory: path('sphinx'), from });
    });
    after(async () => {
      await searchd?.stop();
      rmSync(directory, { recursive: true });
    });

    const settings = (engine = `sphinx, host: 127.0.0.1, port: ${port}, idAttribute: doc_id`, lifeboat = 'boat') => {
      const boat = lifeboat === '' ? '' : `\n    lifeboat: { directory: ${path(lifeboat)}, deadline: 250ms }`;
      const config = `domains:
  goods:
    store: { kind: none }
    engine: { kind: ${engine} }${boat}
    attributes: { brand: { type: string, facet: true }, price: { type: number, sort: true } }
`;
      return loadSettings({ env: { SERPCACHE_CONFIG: 'config.yaml' }, cwd: directory, readFile: () => config });
    };

    const run = async (command: Command, args: readonly string[], given = settings()): Promise<string> => {
      let printed = '';
      const read = parseArguments(args, command.options);
      assert.ok(read.kind === 'arguments', JSON.stringify(read));
      await command.run(read.arguments, {
        clock: systemClock,
        stdout: { write: (text) => (printed += text), isTTY: true },
        stderr: { write: () => undefined },
        settings: () => given,
        signal: new AbortController().signal,
        operator: 'test',
      });
      return printed;
    };
    const measure = async (args: readonly string[] = [], given = settings()): Promise<ParityReport> =>
      JSON.parse(await run(parity, ['goods', path('queries.tsv'), '--json', ...args], given));

    it('both use the same ids, and mostly show the same documents', async () => {
      const { figures, warnings, queries: counted, engine, lifeboat } = await measure();
      assert.equal(lifeboat.documents, DOCUMENTS);
      assert.deepEqual([engine.deadlineMs, lifeboat.deadlineMs], [800, 250]);
      assert.equal(counted.asked, queries);
      assert.equal(figures.compared, queries);
      assert.deepEqual(warnings, []);
      assert.equal(figures.results.notIndexed, 0);
      assert.ok((figures.overlap.meanOfFound ?? 0) > 0.5, JSON.stringify(figures.overlap));
      assert.ok(Number(figures.ties.share) > 0.05, 'one-word queries have many results of one weight');
      assert.ok((figures.empty.onlyEngine ?? 1) < 0.05, JSON.stringify(figures.empty));
      assert.ok((figures.totalRatio.p50 ?? 0) > 0.9, JSON.stringify(figures.totalRatio));
    });

    it('without an influence of ranking they are nearly equal', async () => {
      const ranked = await measure();
      const sorted = await measure(['--sort=-price', '--filter', 'price:1..']);
      assert.ok(Number(sorted.figures.overlap.meanOfFound) > Number(ranked.figures.overlap.meanOfFound));
      assert.ok(Number(sorted.figures.overlap.meanOfFound) > 0.8, JSON.stringify(sorted.figures.overlap));
      assert.deepEqual([sorted.sort, sorted.filters], ['-price', ['price:1..']]);
    });

    it('the text is a table, with the least similar queries at its end', async () => {
      const text = await run(parity, ['goods', path('queries.tsv'), '--limit', '5', '--max-queries', '100']);
      assert.match(text, /^overlap@5 +mean 0\.\d\d {2}weighted 0\.\d\d/m);
      assert.match(text, /^lifeboat +sqlite .*goods\.sqlite, 2500 documents, built .* \(\d+ min ago\)$/m);
      const share = String(Number((10_000 / queries).toFixed(1))).replace('.', '\\.');
      const asked = `^queries +${queries} distinct .* 100 asked \\(${share} % of all searches\\), 100 answered by both$`;
      assert.match(text, new RegExp(asked, 'm'));
      assert.match(text, /least alike\n {2}0\.\d\d {2}.+\n {8}engine {4}.+\n {8}lifeboat {2}.+/);
    });

    it('a lifeboat without half of the catalogue is detected', async () => {
      await run(indexCatalogue, ['goods', path('half.ndjson'), '--into', path('old')]);
      const { figures, warnings } = await measure(['--with', path('old')]);
      assert.ok(figures.results.notIndexed > 100);
      assert.match(warnings.join(), /are not in its index: it is older than the engine/);
    });

    it('an engine with other ids is detected', async () => {
      const { figures, warnings } = await measure([], settings(`sphinx, host: 127.0.0.1, port: ${port}`));
      assert.equal(figures.overlap.meanOfFound, 0);
      assert.match(warnings.join(), /none of the engine's \d+ results is in the lifeboat's index.*idAttribute/);
    });

    it('an index compared with itself agrees, and a warning says that it is the same index', async () => {
      const { figures, warnings } = await measure([], settings(`sqlite, directory: ${path('boat')}`));
      assert.deepEqual([figures.overlap.mean, figures.sameOrder, figures.worst], [1, 1, []]);
      assert.match(warnings.join(), /the same index/);
    });

    it('one answering server of several is enough; without one nothing is measured', async () => {
      const [dead = 0] = await freePorts(1);
      const first = `sphinx, host: 127.0.0.1, port: ${dead}, idAttribute: doc_id`;
      const { engine } = await measure([], settings(`${first}, mirrors: ["127.0.0.1:${port}"]`));
      assert.equal(engine.is, `sphinx 127.0.0.1:${port}/goods`);
      await assert.rejects(
        measure([], settings(first)),
        new RegExp(`the engine does not answer: sphinx 127.0.0.1:${dead}`),
      );
    });

    it('wrong arguments are refused before any query is asked', async () => {
      const file = path('queries.tsv');
      for (const [args, said] of [
        [['cars', file], /no domain "cars"; configured: goods/],
        [['goods', file, '--limit', '0'], /--limit takes a whole number from 1 to 100/],
        [['goods', file, '--at-once', '3'], /--at-once takes a whole number from 1 to 2/],
        [['goods', file, '--filter', 'colour:red'], /"colour" is not an attribute/],
        [['goods', file, '--sort', 'brand'], /sort must be one of/],
      ] as const) {
        await assert.rejects(run(parity, args), (error) => error instanceof UsageError && said.test(error.message));
      }
      const without = settings(undefined, '');
      await assert.rejects(measure([], without), /no lifeboat configured.*--with/);
      await assert.rejects(run(indexCatalogue, ['goods', path('goods.ndjson')], without), /has no lifeboat.*--into/);
      await assert.rejects(measure(['--with', path('nowhere')]), /nowhere\/goods\.sqlite does not exist/);
    });
  });
}

/** With ids that are not numbers, searchd's own ids differ from them. */
function writeRows(file: string, documents: readonly Document[]): void {
  const rows = documents.map(({ id, attributes, ...text }) =>
    JSON.stringify({ id: `goods-${id}`, ...text, ...attributes }),
  );
  writeFileSync(file, rows.join('\n'));
}
