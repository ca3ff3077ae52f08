import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import {
  contentPolicy,
  documentFields,
  INLINE_STYLES,
  OWN_FILES,
  registerFile,
} from '../../http/transport/static-file.ts';
import { readAssets, registerAssets } from '../page/assets.ts';
import { consoleHtml, REPORT_FRAME } from './document.ts';

/** The one frame is our own empty page, which takes a drill's report. */
const CONSOLE_POLICY = contentPolicy({ ...OWN_FILES, 'frame-src': "'self'" });
/** A report brings its style with it. Nothing in it may run, and nothing may be fetched for it. */
const REPORT_POLICY = contentPolicy({ ...INLINE_STYLES, 'frame-ancestors': "'self'" });

const OWN = join(import.meta.dirname, 'assets');
const PAGE = join(import.meta.dirname, '..', 'page', 'assets');
const STYLES = ['base', 'frame', 'cards', 'live', 'drill', 'forms', 'dialog'];

/** The operators' console, `GET|HEAD /ops`, and its files under `/ops/assets/`. Open to all: its data is not. */
export function registerOps(app: FastifyInstance): void {
  const plots = (file: string): string => fileURLToPath(import.meta.resolve(`uplot/dist/${file}`));
  const assets = readAssets({
    prefix: '/ops/assets',
    entry: join(OWN, 'main.mjs'),
    styles: [
      join(PAGE, 'style', 'theme.css'),
      plots('uPlot.min.css'),
      ...STYLES.map((name) => join(OWN, 'style', `${name}.css`)),
    ],
    icon: join(PAGE, 'icon.svg'),
    // The library's script for pages without modules declares this one name.
    foreign: { [join(OWN, 'uplot.mjs')]: `${readFileSync(plots('uPlot.iife.min.js'), 'utf8')}\nexport default uPlot;` },
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
