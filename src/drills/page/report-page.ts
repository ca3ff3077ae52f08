import { createHash } from 'node:crypto';
import type { Journal } from '../journal.ts';
import { domainSection } from './domain-section.ts';
import { heading } from './heading.ts';
import { element, type Markup } from './markup.ts';
import { overview } from './overview.ts';
import { planSection } from './plan-section.ts';
import { PLOT_STYLE } from './style-plot.ts';
import { TEXT_STYLE } from './style-text.ts';
import { themeStyle } from './style-theme.ts';
import { timeline } from './timeline.ts';
import { verdictWords } from './verdict-words.ts';

/** Along a plot, for all domains together: what keeps the page under 300 KB however long the drill was. */
const COLUMNS = 400;
const [MOST_COLUMNS, LEAST_COLUMNS] = [360, 24];

/**
 * The report of a drill: one HTML page without scripts and without anything from elsewhere, so that it can be kept,
 * mailed and printed. Drawn from the journal alone, at any state of it. It is well-formed XML too.
 */
export function reportPage(journal: Journal): string {
  const style = `${themeStyle()}${TEXT_STYLE}${PLOT_STYLE}`;
  const columns = Math.floor(COLUMNS / Math.max(1, journal.domains.length));
  const perDomain = Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, columns));
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('meta', { 'http-equiv': 'Content-Security-Policy', content: policyFor(style) }),
    element('meta', { name: 'color-scheme', content: 'light dark' }),
    element('meta', { name: 'referrer', content: 'no-referrer' }),
    element('title', {}, titleOf(journal)),
    element('link', { rel: 'icon', href: 'data:,' }),
    ours('style', style),
  );
  const body = element(
    'body',
    {},
    heading(journal),
    element(
      'main',
      {},
      overview(journal),
      journal.domains.map((_, at) => domainSection(journal, at, perDomain)),
      timeline(journal),
      planSection(journal),
    ),
    element(
      'footer',
      {},
      'A dash stands for what was not measured. Shares of keys are shares of their hashes. Drawn from the JSON journal of this drill, which holds every sample.',
    ),
  );
  return `<!DOCTYPE html>\n${element('html', { lang: 'en' }, head, body).markup}\n`;
}

function titleOf(journal: Journal): string {
  return `${verdictWords(journal).word}: ${journal.plan.title} on ${journal.domains.join(', ')}`;
}

/** Even if something in the journal became markup, it could load and run nothing. */
function policyFor(style: string): string {
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`;
}

/** Style sheets are not escaped: they hold nothing but constants of ours. */
function ours(tag: 'style', text: string): Markup {
  return { markup: `<${tag}>${text}</${tag}>` };
}
