import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { buildIndex } from '../../../src/engines/sqlite/build.ts';
import { type OpenIndex, openIndex } from '../../../src/engines/sqlite/open-index.ts';
import type { Document, SearchDomain } from '../../../src/search/domain.ts';

export const DOMAIN: SearchDomain = {
  name: 'goods',
  attributes: [
    { name: 'brand', type: 'string', facet: true, sort: true },
    { name: 'price', type: 'number', facet: false, sort: true },
    { name: 'year', type: 'integer', facet: true, sort: true },
    { name: 'posted', type: 'date', facet: false, sort: true },
  ],
  context: [],
  answerProfile: 'test',
};

/** Documents with these titles; ids are their positions, from 1. */
export function titled(...titles: string[]): Document[] {
  return titles.map((title, index) => ({ id: String(index + 1), title, description: '', attributes: {} }));
}

export async function temporaryDirectory(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'serpcache-sqlite-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export async function indexOf(context: TestContext, documents: readonly Document[]): Promise<OpenIndex> {
  const file = join(await temporaryDirectory(context), 'test.sqlite');
  await buildIndex({ file, domain: DOMAIN, documents, builtAtMs: 0 });
  const index = openIndex({ file, domain: DOMAIN, snippetLength: 200 });
  context.after(() => index.close());
  return index;
}
