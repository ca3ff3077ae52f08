import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseQueries, type Query } from '../../../loadtest/k6/kit/query-file.ts';
import { writeQueries } from '../../../loadtest/runner/queries.ts';
import { documentsOf } from '../../../loadtest/stack/plan.ts';
import { DEMO_DOMAINS } from '../../../src/catalogue/demo.ts';
import type { Document, SearchDomain } from '../../../src/search/domain.ts';
import { parseRequest } from '../../../src/search/query.ts';
import { temporaryFolder } from '../../folder.ts';
import { plain } from '../../plain.ts';

const DEMO: readonly SearchDomain[] = DEMO_DOMAINS.map((domain) => ({ ...domain, answerProfile: '' }));
const COUNT = 1000;

/** The first documents of a domain: enough for COUNT queries, while a file of the whole demo takes a second. */
async function* someOf(...[domain, corpora]: Parameters<typeof documentsOf>): AsyncGenerator<Document> {
  let left = 5000;
  for await (const document of documentsOf(domain, corpora)) {
    yield document;
    left -= 1;
    if (left === 0) return;
  }
}

/** The query file of the whole catalogue, generated once for all tests. */
const generated = new Map<string, Promise<readonly Document[]>>();
async function* demoOf(...[domain, corpora]: Parameters<typeof documentsOf>): AsyncGenerator<Document> {
  const documents = generated.get(domain.name) ?? Array.fromAsync(someOf(domain, corpora));
  generated.set(domain.name, documents);
  yield* await documents;
}

const folder = temporaryFolder({ after });

async function written(
  name: string,
  options: Partial<Parameters<typeof writeQueries>[0]> = {},
): Promise<readonly Query[]> {
  const file = join(folder, name);
  const given = { corpora: undefined, domains: DEMO.slice(0, 2), documents: demoOf, count: COUNT, ...options };
  await writeQueries({ file, ...given });
  return parseQueries(readFileSync(file, 'utf8'));
}

test('k6 can read a file of the demo, and the service accepts every line of it', async () => {
  const queries = await written('of/demo.tsv', { documents: documentsOf });
  assert.equal(queries.length, COUNT);
  for (const { domain: name, text, parameters } of queries) {
    const domain = DEMO.find((each) => each.name === name);
    assert.ok(domain !== undefined, `no domain ${name}`);
    parseRequest({ pairs: [['q', text], ...new URLSearchParams(parameters)] }, domain);
  }
  assert.equal(new Set(queries.map(({ domain, text }) => `${domain} ${text}`)).size, COUNT);
});

test('the same catalogue gives the same file', async () => {
  await written('first.tsv');
  await written('second.tsv', { documents: someOf });
  assert.equal(readFileSync(join(folder, 'first.tsv'), 'utf8'), readFileSync(join(folder, 'second.tsv'), 'utf8'));
});

test('four lines in five are goods and the other domains share the rest, in every part of the file', async () => {
  const queries = await written('three.tsv', { domains: DEMO.slice(0, 3) });
  for (const upTo of [50, 500, COUNT]) {
    const of = (name: string): number => queries.slice(0, upTo).filter(({ domain }) => domain === name).length;
    assert.deepEqual([of('goods'), of('auto'), of('realty')], [0.8 * upTo, 0.1 * upTo, 0.1 * upTo]);
  }
});

test('about 15 % of the lines have parameters, of every kind that exists', async () => {
  const given = (await written('parameters.tsv')).flatMap(({ parameters }) => (parameters === '' ? [] : [parameters]));
  assert.ok(given.length > 0.11 * COUNT && given.length < 0.19 * COUNT, `${given.length}`);
  for (const kind of [
    /^filter=[a-z]+:[^.&]+$/,
    /^filter=[a-z]+:\.\.\d+$/,
    /^filter=date:[\d-]+\.\.$/,
    /^sort=-?[a-z]+$/,
    /^facet=[a-z]+$/,
    /^filter=.+&sort=/,
    /^highlight=false$/,
  ]) {
    assert.ok(
      given.some((parameters) => kind.test(parameters)),
      `none is ${kind}`,
    );
  }
});

test('a filter uses the value of a document that the search matches', async () => {
  // These values have to be escaped twice.
  const kinds = ['apple', 'banana', 'cherry'].map((fruit) => ({
    fruit,
    brand: `${fruit}, & \\co`,
    price: fruit.length,
  }));
  const documents = (): Document[] =>
    kinds.flatMap(({ fruit, brand, price }) =>
      Array.from({ length: 200 }, (_, at) => ({
        id: `${fruit}${at}`,
        title: `${fruit} ${fruit}${at} item`,
        description: '',
        attributes: { brand, price },
      })),
    );
  const domain: SearchDomain = {
    name: 'fruit',
    attributes: [
      { name: 'brand', type: 'string', facet: true, sort: false },
      { name: 'price', type: 'number', facet: false, sort: true },
    ],
    context: [],
    answerProfile: '',
  };
  const queries = await written('fruit.tsv', { domains: [domain], documents });
  let seen = 0;
  for (const { text, parameters } of queries) {
    const { filters } = parseRequest({ pairs: [['q', text], ...new URLSearchParams(parameters)] }, domain);
    const fruit = /^[a-z]+/.exec(text)?.[0] ?? '';
    for (const filter of filters) {
      seen += 1;
      if (filter.kind === 'strings') assert.deepEqual(filter.values, [`${fruit}, & \\co`]);
      else assert.deepEqual(plain(filter), { kind: 'range', attribute: 'price', to: fruit.length });
    }
  }
  assert.ok(seen > 50, `${seen} filters`);
});

test('with the corpora, goods uses their list, every tenth line is a real search, and few of these find nothing', async () => {
  const corpora = join(folder, 'corpora');
  const made = Array.from({ length: 200 }, (_, at) => `${at + 1}\tmade ${at + 1}\t0.1\tword\t3`);
  const real = ['chorus', 'esci', 'wands'].flatMap((source) =>
    Array.from({ length: 10 }, (_, at) => `${source} ${at + 1}\t\ten\t${source === 'chorus' ? 'chorus,esci' : source}`),
  );
  mkdirSync(corpora);
  const pack = (name: string, head: string, rows: readonly string[]): void =>
    writeFileSync(join(corpora, name), gzipSync([head, ...rows, ''].join('\n')));
  pack('queries-goods-synthetic.tsv.gz', 'rank\tquery\tweight\tkind\ttitle_hits', made);
  pack('queries-goods-real.tsv.gz', 'query\tweight\tlang\tsources', real);

  const domains = DEMO.slice(0, 1);
  const documents = (): Document[] => [];
  const texts = (await written('real.tsv', { corpora, domains, documents, count: 120 })).map(({ text }) => text);
  assert.deepEqual(texts.slice(0, 11), [...made.slice(0, 9).map((_, at) => `made ${at + 1}`), 'chorus 1', 'made 10']);
  assert.deepEqual([texts[59], texts[119]], ['wands 1', 'wands 2']);
  assert.equal(texts.filter((text) => text.startsWith('made')).length, 108);
  await assert.rejects(
    written('real.tsv', { corpora, domains, documents, count: 500 }),
    /the corpora give 230 searches for goods, 501 are wanted/,
  );
});
