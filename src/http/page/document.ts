import { type PageModel, titleOf } from './assets/view/model.mjs';
import { pageView } from './assets/view/page.mjs';
import { h } from './assets/view/tree.mjs';
import { type Assets, assetLinks } from './assets.ts';
import { toHtml } from './html.ts';

/** The whole document: readable as it is, taken over by the script where there is one. */
export function documentHtml(model: PageModel, assets: Assets): string {
  const head = h(
    'head',
    {},
    h('meta', { charset: 'utf-8' }),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('title', {}, titleOf(model)),
    assetLinks(assets),
  );
  const body = h('body', { 'data-site': JSON.stringify(model.site) }, h('div', { id: 'app' }, pageView(model)));
  return `<!doctype html>${toHtml(h('html', { lang: model.language }, head, body))}`;
}
