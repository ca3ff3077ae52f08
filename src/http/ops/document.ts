import { h } from '../page/assets/view/tree.mjs';
import type { Assets } from '../page/assets.ts';
import { toHtml } from '../page/html.ts';

/** In the order they apply. */
const STYLES = [
  'page/assets/style/theme',
  'ops/assets/style/uplot',
  'ops/assets/style/base',
  'ops/assets/style/frame',
  'ops/assets/style/cards',
  'ops/assets/style/live',
  'ops/assets/style/drill',
  'ops/assets/style/forms',
  'ops/assets/style/dialog',
] as const;

/** The console before its script has run: it has nothing to show without one, and says so. */
export function consoleHtml(assets: Assets): string {
  const base = `/ops/assets/${assets.version}`;
  const head = h(
    'head',
    {},
    h('meta', { charset: 'utf-8' }),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('title', {}, 'serpcache operations'),
    h('link', { rel: 'icon', href: `${base}/page/assets/icon.svg`, type: 'image/svg+xml' }),
    STYLES.map((path) => h('link', { rel: 'stylesheet', href: `${base}/${path}.css` })),
    assets.modules.map((path) => h('link', { rel: 'modulepreload', href: `${base}/${path}` })),
    h('script', { type: 'module', src: `${base}/ops/assets/main.mjs` }),
  );
  const body = h(
    'body',
    {},
    h(
      'div',
      { id: 'app' },
      h('noscript', {}, 'The console needs scripts. The same can be done with `serpcache` in a shell.'),
    ),
    h('div', { id: 'told', class: 'unseen', role: 'log', 'aria-label': 'What has changed' }),
  );
  return `<!doctype html>${toHtml(h('html', { lang: 'en' }, head, body))}`;
}

/** Empty until the console puts a report into it. */
export const REPORT_FRAME = `<!doctype html>${toHtml(
  h('html', { lang: 'en' }, h('head', {}, h('meta', { charset: 'utf-8' }), h('title', {}, 'Report')), h('body', {})),
)}`;
