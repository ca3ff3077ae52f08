import { beforeEach } from 'node:test';
import pino from 'pino';
import type { Page } from 'playwright-core';
import type { RequestEvent } from '../../src/http/events.ts';
import { createPublicServer } from '../../src/http/search-api/public-server.ts';
import { systemClock } from '../../src/runtime.ts';
import { registerPage } from '../../src/ui/page/route.ts';
import { createPageSearch, type PageSearch } from '../fakes/page-search.ts';
import { type BrowserHarness, describeInBrowser } from './browser.ts';

export const HOSTILE_MARKUP = '"><img src=x onerror="alert(1)"><script>alert(2)</script>';

/** Any service with the page: the journeys need only its address. */
export interface PageService {
  readonly baseUrl: string;
  readonly stop: () => Promise<void>;
}

export interface FakePageService extends PageService {
  readonly search: PageSearch;
  /** The events observed so far; a test may empty the list. */
  readonly events: RequestEvent[];
}

/** The real listener, routes and page over a fake search with a catalogue of a hundred lines, which a test can change. */
export async function startFakePageService(
  options: { readonly extra?: Parameters<typeof createPageSearch>[0]['extra'] } = {},
): Promise<FakePageService> {
  const search = createPageSearch({ clock: systemClock, extra: options.extra });
  const events: RequestEvent[] = [];
  const server = createPublicServer({
    domains: search.domains,
    observe: (event) => events.push(event),
    log: pino({ level: 'silent' }),
    clock: systemClock,
    random: () => 0,
    maxPageBytes: 2 ** 20,
    maxUrlBytes: 8192,
    maxBodyBytes: 2 ** 16,
    maxConnections: 100,
    maxInFlight: 100,
    maxLoopDelayMs: 60_000,
    drainMs: 500,
    lameDuckMs: 0,
    hitSample: 0,
    version: 'test',
    pages: (app, context) =>
      registerPage(app, {
        ...context,
        examples: [
          { domain: 'goods', query: 'кроссовки' },
          { domain: 'goods', query: 'iphone 13' },
          { domain: 'auto', query: 'ваз 2107' },
        ],
      }),
  });
  const baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  return { baseUrl, search, events, stop: async () => void (await server.close()) };
}

/** The page in a browser, over a catalogue with hostile and unusual documents. */
export interface PageHarness extends BrowserHarness<FakePageService> {
  /** The page's address with these parameters. */
  readonly at: (parameters: Readonly<Record<string, string>>) => string;
}

export function describePage(name: string, tests: (harness: PageHarness) => void): void {
  describeInBrowser(
    name,
    () => startFakePageService({ extra: unusualDocuments() }),
    ({ service, open }) => {
      beforeEach(() => {
        service().search.before = async () => {};
        service().search.dress = (answer) => answer;
      });
      const at = (parameters: Readonly<Record<string, string>>) =>
        `${service().baseUrl}/?${new URLSearchParams(parameters)}`;
      tests({ service, open, at });
    },
  );
}

function unusualDocuments() {
  const long = 'W'.repeat(120);
  return [
    {
      id: 'hostile',
      title: `пакость ${HOSTILE_MARKUP}`,
      description: `пакость ${HOSTILE_MARKUP} javascript:alert(3)`,
      attributes: {
        category: HOSTILE_MARKUP,
        city: `${HOSTILE_MARKUP}, with a comma`,
        price: 1,
        date: '2026-01-01',
      },
    },
    {
      id: 'tail',
      title: 'особое',
      description: 'особое',
      attributes: { category: 'a,b', city: 'хвост\\', price: 7_200_000, date: '2026-01-01' },
    },
    {
      id: 'long',
      title: `бесконечное ${long}`,
      description: `бесконечное ${long}`,
      attributes: { category: long, city: long, price: 999_999_999_999, date: '2026-01-01' },
    },
  ];
}

export async function totalOf(page: Page): Promise<number> {
  return numberIn(await page.locator('.status .count').textContent());
}

export function numberIn(text: string | null): number {
  return Number((text ?? '').replace(/\D/g, ''));
}

export async function titlesOf(page: Page): Promise<string[]> {
  return page.locator('.list h3').allTextContents();
}

export async function pricesOf(page: Page): Promise<number[]> {
  return (await page.locator('.money dd').allTextContents()).map(numberIn);
}
