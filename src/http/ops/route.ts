import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { registerAssets } from '../page/asset-route.ts';
import { filesIn, readAssets } from '../page/assets.ts';
import { consoleHtml, REPORT_FRAME } from './document.ts';

/** Scripts and styles are files of our own; the one frame is our own empty page, which takes a drill's report. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "frame-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A report brings its style with it. Nothing in it may run, and nothing may be fetched for it. */
const REPORT_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ');

const PAGE = join(import.meta.dirname, '..', 'page', 'assets');

/** What both pages are built of. Served at the same distance as on disk, so that one import names it in both places. */
const SHARED = ['patch.mjs', 'view/tree.mjs', 'style/theme.css', 'icon.svg'];

/** The operators' console, `GET|HEAD /ops`, and its files under `/ops/assets/`. Open to all: its data is not. */
export function registerOps(app: FastifyInstance): void {
  const assets = readAssets({
    ...below('ops/assets', filesIn(join(import.meta.dirname, 'assets'))),
    ...Object.fromEntries(SHARED.map((path) => [`page/assets/${path}`, join(PAGE, path)])),
    'ops/assets/uplot.mjs': fileURLToPath(import.meta.resolve('uplot/dist/uPlot.esm.js')),
    'ops/assets/style/uplot.css': fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css')),
  });
  const page = consoleHtml(assets);

  for (const [url, html, policy] of [
    ['/ops', page, POLICY],
    ['/ops/report', REPORT_FRAME, REPORT_POLICY],
  ] as const) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      schema: { hide: true },
      handler: (_request, reply) => {
        reply
          .headers({
            'content-type': 'text/html; charset=utf-8',
            'content-security-policy': policy,
            'x-content-type-options': 'nosniff',
            'referrer-policy': 'no-referrer',
            'cross-origin-opener-policy': 'same-origin',
            'cache-control': 'no-cache',
          })
          .send(html);
      },
    });
  }
  registerAssets(app, '/ops/assets', assets);
}

function below(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, file]) => [`${folder}/${path}`, file]));
}
