import pino from 'pino';
import type { RequestEvent } from '../../src/http/events.ts';
import { createPublicServer } from '../../src/http/search-api/public-server.ts';
import { systemClock } from '../../src/runtime.ts';
import { registerPage } from '../../src/ui/page/route.ts';
import { createPageSearch, type PageSearch } from '../fakes/page-search.ts';

/** Anything that serves the page: the journeys need no more than its address. */
export interface PageService {
  readonly baseUrl: string;
  readonly stop: () => Promise<void>;
}

export interface FakePageService extends PageService {
  readonly search: PageSearch;
  /** Everything observed so far; a test may empty it. */
  readonly events: RequestEvent[];
}

/** The real listener, routes and page over a catalogue of a hundred lines: what no real engine can be asked to do at will. */
export async function startFakePageService(
  options: { readonly extra?: Parameters<typeof createPageSearch>[0]['extra'] } = {},
): Promise<FakePageService> {
  const search = createPageSearch({
    clock: systemClock,
    ...(options.extra === undefined ? {} : { extra: options.extra }),
  });
  const events: RequestEvent[] = [];
  const server = createPublicServer({
    search,
    observe: (event) => events.push(event),
    log: pino({ level: 'silent' }),
    clock: systemClock,
    random: () => 0,
    clientMaxAgeMs: () => 30_000,
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
    pages: (app, { admission, ...context }) =>
      registerPage(app, {
        ...context,
        door: admission,
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
