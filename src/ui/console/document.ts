import { h } from '../page/assets/view/tree.mjs';
import { type Assets, assetLinks } from '../page/assets.ts';
import { toHtml } from '../page/html.ts';

/** The console before its script has run: it has nothing to show without one, and says so. */
export function consoleHtml(assets: Assets): string {
  const head = h(
    'head',
    {},
    h('meta', { charset: 'utf-8' }),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('title', {}, 'serpcache operations'),
    assetLinks(assets),
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
