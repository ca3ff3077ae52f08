import { createWeakCache } from '../../http/transport/weak-cache.ts';
import { type AnswerBody, type PageModel, titleOf } from './assets/view/model.mjs';
import { columnsView, pageView } from './assets/view/page.mjs';
import { h } from './assets/view/tree.mjs';
import { type Assets, assetLinks } from './assets.ts';
import { htmlAround, toHtml } from './html.ts';

/** Some hundred pages of 20 results each, by their answers. */
const MAX_DRAWN_BYTES = 8 * 2 ** 20;
const drawn = createWeakCache<AnswerBody, { readonly view: string; readonly html: Buffer }>(MAX_DRAWN_BYTES);

/**
 * Facets and results as HTML, remembered for the place and language they were drawn for last: they are most of what a page
 * costs. Where the answer came from, and how old it is, is drawn each time.
 */
function columnsOf(model: PageModel, answer: AnswerBody): Buffer {
  const view = JSON.stringify([model.language, model.site.preferred, model.place]);
  const known = drawn.get(answer);
  if (known?.view === view) return known.html;
  const html = Buffer.from(toHtml(columnsView(model, answer)));
  drawn.set(answer, { view, html }, view.length + html.length);
  return html;
}

/** The whole document: readable as it is, taken over by the script where there is one. */
export function documentHtml(model: PageModel, assets: Assets): Buffer {
  const head = h(
    'head',
    {},
    h('meta', { charset: 'utf-8' }),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('title', {}, titleOf(model)),
    assetLinks(assets),
  );
  const columns = h('div', {});
  const app = h(
    'div',
    { id: 'app' },
    pageView(model, () => columns),
  );
  const body = h('body', { 'data-site': JSON.stringify(model.site) }, app);
  const [before, after] = htmlAround(h('html', { lang: model.language }, head, body), columns);
  const middle = model.shown.kind === 'answer' ? [columnsOf(model, model.shown.answer)] : [];
  return Buffer.concat([Buffer.from(`<!doctype html>${before}`), ...middle, Buffer.from(after)]);
}
