import { type PageModel, titleOf } from './assets/view/model.mjs';
import { pageView } from './assets/view/page.mjs';
import { h } from './assets/view/tree.mjs';
import type { Assets } from './assets.ts';
import { toHtml } from './html.ts';

/** In the order they apply. */
const STYLES = ['theme', 'frame', 'answer', 'filters', 'list', 'notices'] as const;

/** The whole document: readable as it is, taken over by the script where there is one. */
export function documentHtml(model: PageModel, assets: Assets): string {
  const base = `/assets/page/${assets.version}`;
  const head = h(
    'head',
    {},
    h('meta', { charset: 'utf-8' }),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('title', {}, titleOf(model)),
    h('link', { rel: 'icon', href: `${base}/icon.svg`, type: 'image/svg+xml' }),
    STYLES.map((name) => h('link', { rel: 'stylesheet', href: `${base}/style/${name}.css` })),
    assets.modules.map((path) => h('link', { rel: 'modulepreload', href: `${base}/${path}` })),
    h('script', { type: 'module', src: `${base}/main.mjs` }),
  );
  const body = h('body', { 'data-site': JSON.stringify(model.site) }, h('div', { id: 'app' }, pageView(model)));
  return `<!doctype html>${toHtml(h('html', { lang: model.language }, head, body))}`;
}
