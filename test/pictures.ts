/**
 * `npm run pictures`: takes the pictures of README.md again, light and dark: the search page, the console in the middle of
 * a drill, and the report of that drill. Three replicas serve the demo catalogue from a Redis Cluster, a Valkey server and
 * searchd under a steady load, so that every figure of a picture was measured. Free ports of loopback; ends by itself.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { createClient } from '../loadtest/http-driver/client.ts';
import { closedLoop } from '../loadtest/http-driver/loops.ts';
import { atLastStage, isOver } from '../loadtest/rehearsal/harness.ts';
import { startLoad } from '../loadtest/rehearsal/load.ts';
import { say } from '../loadtest/rehearsal/rehearse.ts';
import { installParts } from '../loadtest/stack/parts.ts';
import { stopOnSignals } from '../loadtest/stack/process.ts';
import { startCluster, startStandalone } from '../loadtest/stack/redis.ts';
import { declarationOf, startService } from '../loadtest/stack/service.ts';
import { startSearchd } from '../loadtest/stack/sphinx.ts';
import { queriesOf } from '../loadtest/traffic/queries.ts';
import { DEMO_DOMAINS, demoDocuments } from '../src/catalogue/demo.ts';
import { EXIT, type Program, runProgram } from '../src/commands/arguments.ts';
import type { Journal } from '../src/operations/drills/journal.ts';
import { startBrowser, submit } from './e2e/browser.ts';

const PROGRAM: Program = {
  command: 'npm run pictures',
  usage: '',
  about: ['Takes the pictures of README.md again: search page, console and report of a drill; 2 to 3 minutes.'],
  options: [],
  takes: { min: 0, max: 0 },
};
const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, '.github', 'pictures');
const LIMIT_MS = 6 * 60_000;
const MAX_BYTES = 150_000;
/** In CSS pixels. A README shows a picture about 850 px wide; the scale makes it sharp on a screen with two dots for each. */
const [WIDTH, SCALE, QUALITY] = [1024, 1.75, 80];
const MARGIN = 14;
/** Its results are in English. The memory answers it from the second time on, a full one from the third. */
const [QUERY, TIMES_ASKED] = ['smartphone battery health', 4];
const [SHOWN_MS, MAX_TRIES] = [3000, 20];
/** Searches per second. `once`: those that no cache holds, so that the engine has work before the drill. */
const RATES = { goods: 180, once: 8, auto: 40 };
const TEXTS = 1000;
/** Flatter than Zipf's law, so that a small cohort of the keys has searches too. The control cohort is larger for it. */
const EXPONENT = 0.6;
const WARM_MS = 12_000;
const PLAN = {
  name: '5-25-100',
  title: 'The whole cache in three stages',
  holdout: 0.05,
  stages: [
    { kind: 'fraction', fraction: 0.05, holdMs: 10_000 },
    { kind: 'fraction', fraction: 0.25, holdMs: 15_000 },
    { kind: 'fraction', fraction: 1, holdMs: 20_000 },
  ],
};
/** Time from the start of the last stage to the picture. */
const INTO_STAGE_MS = 8000;

type Pictures = Map<string, Buffer>;
interface Taking {
  readonly pictures: Pictures;
  readonly signal: AbortSignal;
}

type Replica = Awaited<ReturnType<typeof startService>>;

process.exitCode = await runProgram(PROGRAM, takePictures);

async function takePictures(): Promise<number> {
  const startedMs = performance.now();
  using stopping = stopOnSignals(say);
  const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(LIMIT_MS)]);
  await using ends = new AsyncDisposableStack();
  installParts(['redis', 'valkey', 'sphinx', 'chromium']);
  const replicas = await startReplicas(ends, signal);
  // The signals are handled here: Playwright would end this process before its servers.
  const browser = await startBrowser({ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false });
  ends.defer(browser.close);
  const { page, complaints } = await browser.open({ viewport: { width: WIDTH, height: 1200 } });
  const pictures: Pictures = new Map();
  await startTraffic(replicas, ends, signal);
  await sleep(WARM_MS, undefined, { signal });
  await ofSearch(page, replicas[0], { pictures, signal });
  await ofDrill(page, replicas[0], { pictures, signal });

  const large = [...pictures].filter(([, { length }]) => length > MAX_BYTES);
  const faults = [
    // Answers that the pages expect: without a token the console is refused, and asks for it.
    ...complaints.filter((text) => !text.startsWith('Failed to load resource')),
    ...large.map(([file]) => `${file} is larger than ${MAX_BYTES / 1000} KB`),
  ];
  if (faults.length > 0) throw new Error(faults.join('\n'));
  mkdirSync(FOLDER, { recursive: true });
  for (const [file, bytes] of pictures) {
    writeFileSync(join(FOLDER, file), bytes);
    say(`${relative(ROOT, join(FOLDER, file))}: ${(bytes.length / 1000).toFixed(0)} KB`);
  }
  say(`taken in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
  return EXIT.passed;
}

async function ofSearch(page: Page, { url }: Replica, { pictures, signal }: Taking): Promise<void> {
  say('the search page');
  const third = page.locator('.list > li').nth(2);
  for (let answers = 0, tries = 0; answers < TIMES_ASKED; tries += 1) {
    signal.throwIfAborted();
    await page.goto(`${url}/?${new URLSearchParams({ domain: 'goods', q: QUERY })}`);
    // On a busy machine the first ones may be refused: the next one asks again.
    const isShown = await third.waitFor({ timeout: SHOWN_MS }).then(
      () => true,
      () => false,
    );
    if (isShown) answers += 1;
    else if (tries > MAX_TRIES) throw new Error(`no results of "${QUERY}" are shown`);
  }
  await take(pictures, 'search', third);
}

/** The console at 100 %, and the report. @throws when the drill has not passed */
async function ofDrill(page: Page, { env, admin }: Replica, { pictures, signal }: Taking): Promise<void> {
  const adminUrl = `http://127.0.0.1:${env.ADMIN_PORT}`;
  await page.goto(`${adminUrl}/ops#/goods/drills`);
  await submit(page, 'dialog [name=token]', env.ADMIN_TOKEN);
  say(`the drill ${PLAN.name}`);
  const request = { plan: PLAN, domains: ['goods'], reason: 'quarterly drill' };
  const { id } = await admin.post<Journal>('/admin/drills', request);
  const journalWhen = async (holds: (journal: Journal) => boolean): Promise<Journal> => {
    for (;;) {
      const journal = await admin.get<Journal>(`/admin/drills/${id}`);
      if (holds(journal) || isOver(journal)) return journal;
      await sleep(200, undefined, { signal });
    }
  };
  await journalWhen(atLastStage);
  await sleep(INTO_STAGE_MS, undefined, { signal });
  await take(pictures, 'console', page.locator('[data-key=watch]'));
  const { verdict } = await journalWhen(isOver);
  if (verdict?.kind !== 'passed') throw new Error(`the drill ended ${verdict?.kind}: ${verdict?.detail}`);
  await page.setExtraHTTPHeaders({ authorization: `Bearer ${env.ADMIN_TOKEN}` });
  await page.goto(`${adminUrl}/admin/drills/${id}/report`);
  await take(pictures, 'report', page.locator('table').first());
}

/** The top of a page down to the end of an element, in both colour schemes. */
async function take(pictures: Pictures, name: string, last: Locator): Promise<void> {
  const page = last.page();
  // A picture needs no place for a scrollbar.
  await page.evaluate('document.documentElement.style.scrollbarGutter = "auto"');
  const box = await last.boundingBox();
  if (box === null) throw new Error(`the last element of ${name} is not shown`);
  const clip = { x: 0, y: 0, width: WIDTH, height: Math.ceil(box.y + box.height + MARGIN), scale: SCALE };
  const session = await page.context().newCDPSession(page);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // Playwright writes PNG, which is twice as large, or JPEG.
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY, clip });
    pictures.set(`${name}-${colorScheme}.webp`, Buffer.from(data, 'base64'));
  }
}

/** Searches of both domains at every replica. Resolves when each repeated one was sent once, so that the cache is warm. */
async function startTraffic(
  replicas: readonly [Replica, ...Replica[]],
  ends: AsyncDisposableStack,
  signal: AbortSignal,
) {
  const goods = queriesOf(demoDocuments('goods'), TEXTS);
  const auto = queriesOf(demoDocuments('auto'), TEXTS);
  const client = createClient({ baseUrl: replicas[0].url, patienceMs: 10_000, maxConnections: 4 });
  ends.defer(client.close);
  say('each search once, so that the cache is warm');
  for (const [domain, { repeated }] of Object.entries({ goods, auto })) {
    await closedLoop(repeated, 4, async (text) => {
      signal.throwIfAborted();
      await client.get(`/search?domain=${domain}&q=${encodeURIComponent(text)}`);
    });
  }
  say(`${Object.values(RATES).join(' + ')} searches a second`);
  const once = { ...goods, repeated: Array.from({ length: 20_000 }, (_, n) => goods.once(n)) };
  for (const [domain, queries, rate] of [
    ['goods', goods, RATES.goods],
    ['goods', once, RATES.once],
    ['auto', auto, RATES.auto],
  ] as const) {
    ends.defer(startLoad({ replicas, domain, queries }, rate, EXPONENT).stop);
  }
}

async function startReplicas(ends: AsyncDisposableStack, signal: AbortSignal) {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-pictures-'));
  ends.defer(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const keep = <Part extends { readonly stop: () => Promise<void> }>(part: Part): Part => {
    ends.defer(() => part.stop());
    return part;
  };
  say('a Redis Cluster, a Valkey server, a store for control documents and searchd');
  const [goods, auto] = DEMO_DOMAINS.map((domain) => ({ ...domain, answerProfile: '' }));
  if (goods === undefined || auto === undefined) throw new Error('the demo has no goods or no cars');
  const parts = [
    startCluster({ flavour: 'redis', masters: 3 }).then(keep),
    startStandalone({ flavour: 'valkey' }).then(keep),
    startStandalone({ flavour: 'redis', config: ['maxmemory-policy noeviction'] }).then(keep),
    startSearchd({
      directory: join(directory, 'searchd'),
      from: {
        domains: [goods, auto].map((domain) => {
          return { domain, index: domain.name, documents: demoDocuments(domain.name) };
        }),
      },
    }).then(keep),
  ] as const;
  // When one fails, `ends` ends the others as well.
  await Promise.allSettled(parts);
  const [cluster, valkey, control, { port }] = await Promise.all(parts);
  const storeOf = (kind: string, { nodes }: typeof cluster) => ({ kind, nodes: nodes.map(({ address }) => address) });
  const domainOf = (domain: typeof goods, store: object) => ({
    store,
    engine: { kind: 'sphinx', host: '127.0.0.1', port, index: domain.name, idAttribute: 'doc_id', maxConcurrent: 6 },
    // No entry expires during the drill.
    freshness: { ttl: '1h', emptyTtl: '1h' },
    ...declarationOf(domain),
  });
  const configuration = {
    // It holds a part of the pages only, so that the stores are read.
    memory: { maxBytes: '4MiB' },
    log: { hitSample: 0 },
    control: storeOf('standalone', control),
    domains: {
      goods: domainOf(goods, storeOf('cluster', cluster)),
      auto: domainOf(auto, storeOf('standalone', valkey)),
    },
  };
  say('three replicas');
  const start = async (name: string): Promise<Replica> => {
    signal.throwIfAborted();
    const own = join(directory, name);
    mkdirSync(own);
    return keep(await startService({ name, directory: own, configuration }));
  };
  return [await start('one'), await start('two'), await start('three')] as const;
}
