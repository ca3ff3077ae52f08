import { createHash } from 'node:crypto';
import { type Content, element, styleSheet } from './markup.ts';
import { PLOT_STYLE } from './style-plot.ts';
import { TEXT_STYLE } from './style-text.ts';
import { themeStyle } from './style-theme.ts';

export interface DocumentOptions {
  readonly title: string;
  readonly body: readonly Content[];
  /** Rules beyond those all reports have: constants of ours. */
  readonly style?: string;
}

/**
 * One HTML page without scripts and without anything from elsewhere, so that it can be kept, mailed and printed. It is
 * well-formed XML too.
 */
export function reportDocument({ title, body, style = '' }: DocumentOptions): string {
  const rules = `${themeStyle()}${TEXT_STYLE}${PLOT_STYLE}${style}`;
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('meta', { 'http-equiv': 'Content-Security-Policy', content: policyFor(rules) }),
    element('meta', { name: 'color-scheme', content: 'light dark' }),
    element('meta', { name: 'referrer', content: 'no-referrer' }),
    element('title', {}, title),
    element('link', { rel: 'icon', href: 'data:,' }),
    styleSheet(rules),
  );
  return `<!DOCTYPE html>\n${element('html', { lang: 'en' }, head, element('body', {}, body)).markup}\n`;
}

/** Even if something that was measured became markup, it could load and run nothing. */
function policyFor(style: string): string {
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`;
}
