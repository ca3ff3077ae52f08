import { setTimeout as sleep } from 'node:timers/promises';
import { manticoreFolder, type SearchServer, SPHINX, sampleGoods } from '../../loadtest/stack/sphinx.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import type { Document, SearchRequest } from '../../src/search/domain.ts';
import type { Engine, ResultPage } from '../../src/search/engine.ts';
import { type Checker, type CheckRun, hold } from './checker.ts';
import { type EngineReport, type Service, startService } from './engines-service.ts';
import { type Distributed, startDistributed } from './engines-start.ts';
import { install } from './tools.ts';

const DOCUMENTS = 1200;
const PATIENCE_MS = 5000;
const SEARCHES = 60;
const BETWEEN_MS = 10;
/** Searches of a second, in which pings find a dead machine. */
const FINDING = 80;
/** Two mirrors, each chosen at random: a silent one is left after a few searches. */
const MAX_PARTIAL = 8;
const BACK_LIMIT_MS = 10_000;
/** `Cache-Status` of a page that was written to the store. */
const STORED = /serpcache-l2[^,]*; stored/;

export const CHECKERS: readonly Checker[] = [
  {
    name: 'sphinx',
    about: 'four searchd and two fronts with deploy/sphinx/distributed.conf: failures, rotations, the doctor.',
    run: (check) => {
      install('sphinx', 'redis');
      return checkDistributed(check, SPHINX);
    },
  },
  {
    name: 'manticore',
    about: 'the same with deploy/manticore/distributed.conf, where Manticore is installed (SERPCACHE_MANTICORE).',
    run: async (check) => {
      const folder = manticoreFolder();
      if (folder === undefined) return { notRun: 'SERPCACHE_MANTICORE names no folder with searchd and indexer' };
      install('redis');
      return checkDistributed(check, { dialect: 'manticore', folder });
    },
  },
];

async function checkDistributed({ folder, say, signal }: CheckRun, server: SearchServer): Promise<string> {
  const { domain, documents } = sampleGoods(DOCUMENTS);
  const ends: (() => Promise<unknown>)[] = [];
  const step = (text: string): void => {
    signal.throwIfAborted();
    say(text);
  };
  try {
    step('four nodes and two fronts');
    const fleet = await startDistributed({
      ...{ folder, server, domain, documents },
      add: ({ stop }) => ends.push(stop),
    });
    const frontPorts = [fleet.fronts[0].port, fleet.fronts[1].port] as const;
    const service = await startService({ folder, dialect: server.dialect, domain, frontPorts });
    ends.push(service.stop);
    const texts = wordsOf(documents);

    step('whole pages, and the doctor');
    await eachPartCounts(fleet, texts.slice(0, 10));
    const looked = await cleanBill(fleet, service, texts[0] ?? '');

    step('rotations under searches');
    const rotated = await whileAsking(fleet, texts, async () => {
      for (const node of [...fleet.parts.flat(), ...fleet.parts.flat()]) await node.rotate();
    });
    hold(rotated.partial + rotated.failed === 0, `rotations: ${textOf(rotated)}`);

    step('a machine of one part stops and goes on');
    const [, silent] = fleet.parts[0];
    await silent.pause();
    const stopped = await passedBy(fleet, texts, { event: 'a mirror stopped', maxPartial: MAX_PARTIAL });
    silent.resume();

    step('a machine of the other part is killed, then its mirror');
    const [kept, killed] = fleet.parts[1];
    await killed.kill();
    const maxPartial = server.dialect === 'sphinx' ? MAX_PARTIAL : 0;
    const gone = await passedBy(fleet, texts, { event: 'a mirror was killed', maxPartial });
    await kept.kill();
    await degraded(fleet, service, texts.at(-1) ?? '');

    step('both are back');
    await kept.start();
    await killed.start();
    await wholeAgain(fleet, service, texts.at(-1) ?? '');
    const { cacheStatus } = await service.search(texts.at(-2) ?? '');
    hold(STORED.test(cacheStatus), `all machines are back, and a whole page is not stored: ${cacheStatus}`);

    step('a front is killed, and every other server is told to end');
    await fleet.fronts[0].kill();
    for (const text of texts.slice(20, 50)) {
      const { status, isDegraded } = await service.search(text);
      hold(
        status === 200 && !isDegraded,
        `a front was killed: a search got ${status}${isDegraded ? ', degraded' : ''}`,
      );
    }
    await Promise.all([...fleet.parts.flat(), fleet.fronts[1]].map((searchd) => searchd.end()));
    return [
      `2 parts with 2 mirrors, 2 fronts, ${documents.length} documents`,
      `rotations: ${rotated.whole} searches, all whole`,
      `a mirror killed: ${gone} of ${FINDING} partial in the first second, stopped: ${stopped}; then none`,
      `a part lost: degraded, not stored`,
      `the doctor: ${looked} checks, no finding`,
    ].join('; ');
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

/** @throws when a front finds more or less than its parts together, or another order of the same documents. */
async function eachPartCounts({ fronts, parts }: Distributed, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const expected = await Promise.all(parts.map(([machine]) => page(machine.engine, text)));
    const sum = expected.reduce((total, one) => total + one.total, 0);
    for (const machine of [...parts.map(([, mirror]) => mirror), ...fronts]) {
      const { total, partial } = await page(machine.engine, text);
      const own = fronts.some((front) => front === machine)
        ? sum
        : expected[parts.findIndex(([, mirror]) => mirror === machine)]?.total;
      hold(partial === undefined && total === own, `“${text}” at port ${machine.port}: ${total} documents, not ${own}`);
    }
  }
}

/** @returns the number of checks that could judge the fronts. */
async function cleanBill({ fronts }: Distributed, service: Service, text: string): Promise<number> {
  const { findings, looked } = await examineUsed(fronts[0].engine, service, text);
  const [first] = findings.filter(({ severity }) => severity !== 'info');
  hold(first === undefined, `the doctor finds ${first?.check} at ${first?.subject}: ${first?.evidence}`);
  hold(looked.includes('engine-agents'), 'the doctor could not judge the agents of the fronts');
  return looked.length;
}

/** The doctor judges agents by the searches that reach them meanwhile. */
async function examineUsed(engine: Engine, service: Service, text: string): Promise<EngineReport> {
  const asking = new AbortController();
  const asked = askUntil(engine, [text], asking.signal);
  const report = await service.examine().finally(() => asking.abort());
  await asked;
  return report;
}

/**
 * A mirror fails while its part has another one: searches go on, and soon all are whole.
 * @returns the number of partial pages before that.
 */
async function passedBy(
  { fronts }: Distributed,
  texts: readonly string[],
  { event, maxPartial }: { readonly event: string; readonly maxPartial: number },
): Promise<number> {
  const first = await askTimes(fronts[0].engine, texts, FINDING);
  hold(first.failed === 0 && first.partial <= maxPartial, `${event}: ${textOf(first)}`);
  const later = await askTimes(fronts[0].engine, texts, SEARCHES);
  hold(later.partial + later.failed === 0, `${event} a second before: ${textOf(later)}`);
  return first.partial;
}

/** A whole part is lost: pages come without it, say so, and are not kept. */
async function degraded({ fronts }: Distributed, service: Service, text: string): Promise<void> {
  const { partial, total } = await page(fronts[0].engine, text);
  hold(/\bagent \S+: /.test(partial ?? ''), `a part is lost, and the page of ${total} documents says: ${partial}`);
  const answer = await service.search(text);
  hold(
    answer.status === 200 && answer.isDegraded && answer.cacheControl === 'no-store',
    `a part is lost: status ${answer.status}, ${answer.isDegraded ? 'degraded' : 'whole'}, ${answer.cacheControl}`,
  );
  hold(!STORED.test(answer.cacheStatus), `a partial page is stored: ${answer.cacheStatus}`);
  const { findings } = await examineUsed(fronts[0].engine, service, text);
  hold(
    findings.some(({ check }) => check === 'engine-agents'),
    `a part is lost, and the doctor finds only ${findings.map(({ check }) => check).join(', ') || 'nothing'}`,
  );
}

async function wholeAgain({ fronts, parts }: Distributed, service: Service, text: string): Promise<void> {
  const expected = await Promise.all(parts.map(([machine]) => page(machine.engine, text)));
  const total = expected.reduce((sum, one) => sum + one.total, 0);
  const untilMs = performance.now() + BACK_LIMIT_MS;
  for (;;) {
    const answer = await service.search(text);
    if (!answer.isDegraded && answer.status === 200) {
      hold(answer.total === total, `all machines are back: ${answer.total} documents, not ${total}`);
      break;
    }
    hold(performance.now() < untilMs, `pages are still partial ${BACK_LIMIT_MS / 1000} s after all machines are back`);
    await sleep(BETWEEN_MS);
  }
  for (const { engine } of fronts) {
    const { partial } = await page(engine, text);
    hold(partial === undefined, `all machines are back, and a page is partial: ${partial}`);
  }
}

// --- searches -----------------------------------------------------------------------------------------------------------

interface Asked {
  readonly whole: number;
  readonly partial: number;
  readonly failed: number;
  readonly detail: string;
}

function textOf({ whole, partial, failed, detail }: Asked): string {
  return `${whole} whole, ${partial} partial, ${failed} failed searches: ${detail}`;
}

function page(engine: Engine, text: string): Promise<ResultPage> {
  const request: SearchRequest = {
    ...{ domain: 'goods', text, page: 1, limit: 20, filters: [], facets: ['category'], highlight: true, context: [] },
    sort: { by: 'relevance' },
  };
  return engine.search(request, AbortSignal.timeout(PATIENCE_MS));
}

/** Asks a front over and over while something else happens. */
async function whileAsking(
  { fronts }: Distributed,
  texts: readonly string[],
  act: () => Promise<void>,
): Promise<Asked> {
  const acting = new AbortController();
  const asked = askUntil(fronts[0].engine, texts, acting.signal);
  await act().finally(() => acting.abort());
  return asked;
}

function askTimes(engine: Engine, texts: readonly string[], times: number): Promise<Asked> {
  const ending = new AbortController();
  return askUntil(engine, texts, ending.signal, times);
}

async function askUntil(
  engine: Engine,
  texts: readonly string[],
  signal: AbortSignal,
  times = Number.POSITIVE_INFINITY,
): Promise<Asked> {
  let [whole, partial, failed, detail] = [0, 0, 0, ''];
  for (let at = 0; at < times && !signal.aborted; at += 1) {
    try {
      const one = await page(engine, texts[at % texts.length] ?? '');
      if (one.partial === undefined) whole += 1;
      else [partial, detail] = [partial + 1, one.partial];
    } catch (error) {
      if (!(error instanceof SearchError)) throw error;
      [failed, detail] = [failed + 1, error.message];
    }
    await sleep(BETWEEN_MS);
  }
  return { whole, partial, failed, detail };
}

/** Words of titles, each in several documents; the most frequent first. */
function wordsOf(documents: readonly Document[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { title } of documents) {
    for (const word of new Set(title.toLowerCase().match(/\p{L}{4,}/gu) ?? [])) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const words = [...counts].filter(([, count]) => count > 4).toSorted(([, one], [, other]) => other - one);
  hold(words.length >= 60, `the sample has ${words.length} words that several titles share, not 60`);
  return words.map(([word]) => word);
}
