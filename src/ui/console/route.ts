import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import {
  contentPolicy,
  documentFields,
  INLINE_STYLES,
  OWN_FILES,
  registerFile,
} from '../../http/transport/static-file.ts';
import { SHADOW_STYLE } from '../../operations/shadow/report-plots.ts';
import { PLOT_STYLE, pageStyle, themeStyle } from '../../report/document.ts';
import { toHtml } from '../../report/html.ts';
import { h } from '../../report/tree.ts';
import { type Assets, documentHead, readAssets, registerAssets } from '../shared/assets.ts';
import { COHORT_STYLE } from './assets/view/cohorts.ts';

/** The only frame is our own empty page, into which the console writes a drill's report. */
const CONSOLE_POLICY = contentPolicy({ ...OWN_FILES, 'frame-src': "'self'" });
/** A report has inline styles. It may run no script and fetch nothing. */
const REPORT_POLICY = contentPolicy({ ...INLINE_STYLES, 'frame-ancestors': "'self'" });

/** The operators' console, `GET|HEAD /ops`, and its files under `/ops/assets/`. They need no token; the data does. */
export function registerOps(app: FastifyInstance): void {
  const assets = readAssets({
    prefix: '/ops/assets',
    folder: join(import.meta.dirname, 'assets'),
    styles: ['base', 'frame', 'live', 'drill', 'forms'],
    rules: [pageStyle(), themeStyle(), PLOT_STYLE, SHADOW_STYLE, COHORT_STYLE].join('\n'),
  });

  for (const [url, html, policy] of [
    ['/ops', consoleHtml(assets), CONSOLE_POLICY],
    ['/ops/report', REPORT_FRAME, REPORT_POLICY],
  ] as const) {
    const { 'content-type': type, ...fields } = documentFields(policy);
    registerFile(app, url, { type, content: () => html, fields: { ...fields, 'cache-control': 'no-cache' } });
  }
  registerAssets(app, assets);
}

/** The console before its script runs. Without scripts it shows only a notice. */
function consoleHtml(assets: Assets): string {
  const head = documentHead('serpcache operations', assets);
  const body = h('body')(
    h('div', { id: 'app' })(
      h('noscript')('The console needs scripts. The same can be done with `serpcache` in a shell.'),
    ),
    h('div', { id: 'announcements', class: 'visually-hidden', role: 'log', 'aria-label': 'What has changed' })(),
  );
  return `<!doctype html>${toHtml(h('html', { lang: 'en' })(head, body))}`;
}

/** Empty until the console writes a report into it. */
const REPORT_FRAME = `<!doctype html>${toHtml(
  h('html', { lang: 'en' })(h('head')(h('meta', { charset: 'utf-8' })(), h('title')('Report')), h('body')()),
)}`;
