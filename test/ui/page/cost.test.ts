import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPageBodies } from '../../../src/http/transport/content-coding.ts';
import { systemClock } from '../../../src/runtime.ts';
import { pageAddress, searchPairs } from '../../../src/ui/page/assets/address.ts';
import type { PageModel } from '../../../src/ui/page/assets/model.ts';
import { documentHtml, provenanceOfAnswer, readBody } from '../../../src/ui/page/first-page.ts';
import { siteFor } from '../../../src/ui/page/route.ts';
import { createPageSearch } from '../../fakes/page-search.ts';
import { ASSETS } from './harness.ts';

async function twentyResults(): Promise<{ readonly body: Buffer; readonly model: (body: Buffer) => PageModel }> {
  const search = createPageSearch({ clock: systemClock });
  const site = siteFor({ domains: search.domains }, 'ru');
  const address = pageAddress([['q', 'кроссовки']], site);
  const answer = await search.answer(search.prepare({ pairs: searchPairs(address, site) }));
  const body = await createPageBodies({ maxBytes: 2 ** 20, maxPageBytes: 2 ** 20 }).of(answer.entry);
  const provenance = provenanceOfAnswer(answer, 0.3);
  const model = (bytes: Buffer): PageModel => ({
    ...{ site, address, language: 'ru' },
    shown: { kind: 'answer', answer: readBody(bytes), provenance },
  });
  assert.equal(readBody(body).results.length, 20);
  return { body, model };
}

test('a second page makes no new formatters', async (context) => {
  const { body, model } = await twentyResults();
  const first = documentHtml(model(body), ASSETS).toString();
  const made = [
    context.mock.method(Intl, 'NumberFormat'),
    context.mock.method(Intl, 'DateTimeFormat'),
    context.mock.method(Intl, 'PluralRules'),
  ];
  assert.equal(documentHtml(model(Buffer.from(body)), ASSETS).toString(), first);
  assert.deepEqual(
    made.map(({ mock }) => mock.callCount()),
    [0, 0, 0],
  );
});

test('an answer is drawn once for its address and language, and its provenance is drawn on each page', async () => {
  const { body, model } = await twentyResults();
  const first = model(body);
  const { shown, address } = first;
  assert.ok(shown.kind === 'answer');
  const columns = (html: string): string => html.slice(html.indexOf('<div class="columns">'));
  const html = documentHtml(first, ASSETS).toString();
  // From now on a new drawing would be empty.
  Object.assign(shown.answer, { results: [], facets: {} });

  const provenance = { ...shown.provenance, freshForSeconds: -3 };
  const again = documentHtml({ ...model(body), shown: { ...shown, provenance } }, ASSETS).toString();
  assert.notEqual(again, html);
  assert.equal(columns(again), columns(html));
  for (const other of [{ language: 'en' }, { address: { ...address, filters: ['brand:x'] } }] as const) {
    assert.notEqual(columns(documentHtml({ ...first, ...other }, ASSETS).toString()), columns(html));
  }
});
