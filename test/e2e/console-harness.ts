import { afterEach } from 'node:test';
import pino from 'pino';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { createAdminServer } from '../../src/http/admin/admin-server.ts';
import type { RecordedEntry } from '../../src/operations/audit/audit.ts';
import type { DomainLook, Operations } from '../../src/operations/operations.ts';
import { systemClock } from '../../src/runtime.ts';
import { registerOps } from '../../src/ui/console/route.ts';
import { createFakeAudit } from '../fakes/audit.ts';
import { createFakeOperations } from '../fakes/operations.ts';
import { createFakeSearch } from '../fakes/search.ts';
import { fakeStoreStatus } from '../fakes/status.ts';
import { type BrowserHarness, describeInBrowser, submit } from './browser.ts';

const MIB = 1024 * 1024;
export const TOKEN = 'the-token-of-the-console';
export const HOSTILE_MARKUP = '"><img src=x onerror=alert(1)><script>alert(2)</script>';

/** The admin listener with the console, over fake operations that a test can change. */
export interface ConsoleService {
  readonly baseUrl: string;
  readonly operations: Operations;
  readonly entries: readonly RecordedEntry[];
  /** Changes the look of each domain, from the next line of the stream on. */
  changeLook: (look: DomainLook) => DomainLook;
  readonly stop: () => Promise<void>;
}

export async function startConsoleService(
  options: { readonly token?: string; readonly port?: number } = {},
): Promise<ConsoleService> {
  const { token, port = 0 } = options;
  const audit = createFakeAudit(systemClock);
  const operations = createFakeOperations({ clock: systemClock, domains: ['goods', 'auto', 'realty', 'jobs'] });
  const service: ConsoleService = {
    baseUrl: '',
    operations,
    entries: audit.entries,
    changeLook: realisticLook,
    stop: async () => void (await server.close()),
  };
  const server = createAdminServer({
    domains: createFakeSearch({ clock: systemClock }).domains,
    operations: {
      ...operations,
      watch: () => {
        const watcher = operations.watch();
        return { look: () => watcher.look().map((look) => service.changeLook(look)) };
      },
    },
    audit,
    version: '0.0.0',
    metricsText: async () => ({ contentType: 'text/plain', body: '' }),
    log: pino({ level: 'silent' }),
    clock: systemClock,
    random: () => 0,
    drainMs: 300,
    maxUrlBytes: 8192,
    maxPageBytes: 1_000_000,
    observe: () => {},
    pages: registerOps,
    token,
  });
  const baseUrl = await server.listen({ host: '127.0.0.1', port });
  return Object.assign(service, { baseUrl });
}

export interface ConsoleHarness extends Pick<BrowserHarness<ConsoleService>, 'service'> {
  /** Opens the console, gives the token and waits for the first figures. */
  readonly enter: (hash?: string, options?: BrowserContextOptions) => Promise<ConsolePage>;
  readonly open: (hash?: string, options?: BrowserContextOptions) => Promise<ConsolePage>;
}

export interface ConsolePage {
  readonly page: Page;
  /** Errors of the browser and of refused scripts and styles, without the failed requests that it logs. */
  readonly complaints: () => readonly string[];
}

/** The console over a service with a token, or without one. */
export function describeConsole(
  name: string,
  options: { readonly token?: string },
  tests: (harness: ConsoleHarness) => void,
): void {
  describeInBrowser(
    name,
    () => startConsoleService(options),
    ({ service, open: openTab }) => {
      afterEach(async () => {
        service().changeLook = realisticLook;
        const { drills } = service().operations;
        const caller = { by: 'test', reason: 'over' };
        for (const { id, running } of (await drills.list()).drills) if (running) await drills.abort(id, caller);
        await drills.lift();
      });

      const open = async (hash = '', context: BrowserContextOptions = {}): Promise<ConsolePage> => {
        const { page, complaints } = await openTab(context);
        await page.goto(`${service().baseUrl}/ops${hash}`);
        return { page, complaints: () => complaints.filter((text) => !text.startsWith('Failed to load resource')) };
      };
      const enter = async (hash = '', context: BrowserContextOptions = {}): Promise<ConsolePage> => {
        const opening = await open(hash, context);
        await giveToken(opening.page, TOKEN);
        await opening.page.waitForSelector('.card');
        return opening;
      };
      tests({ service, open, enter });
    },
  );
}

export async function giveToken(page: Page, token: string): Promise<void> {
  await submit(page, 'dialog [name=token]', token);
}

export async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().textContent()) ?? '';
}

/** Waits until an element has the text. */
export async function waitForText(page: Page, selector: string, expected: string): Promise<void> {
  const element = page.locator(selector).filter({ hasText: expected }).first();
  await element.waitFor({ state: 'attached' });
}

/** The look of a real domain, with a store of three nodes and an engine with two endpoints. */
export function realisticLook(look: DomainLook): DomainLook {
  const { figures, status } = look;
  return {
    ...look,
    status: {
      ...status,
      memory: {
        entries: 18_240,
        bytes: 171 * MIB,
        maxBytes: 256 * MIB,
        emptyEntries: 312,
        emptyBytes: MIB,
        emptyMaxBytes: 8 * MIB,
        evictions: 40_112,
        ghostHits: 3_204,
      },
      store: fakeStoreStatus(Object.fromEntries([1, 2, 3].map((n) => [`redis-${n}:6379`, { outstanding: n - 1 }]))),
      engine: {
        ...status.engine,
        kind: 'sphinx',
        inFlight: figures?.engineInFlight ?? 0,
        queued: figures?.engineQueued ?? 0,
        maxConcurrent: figures?.engineMax ?? 8,
        ceiling: 8,
        endpoints: ['sphinx-a:9306', 'sphinx-b:9306'].map((name) => ({
          name,
          breaker: 'closed',
          reachable: true,
          inFlight: 1,
        })),
      },
      processes: 3,
    },
  };
}
