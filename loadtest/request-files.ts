/**
 * `node loadtest/request-files.ts [--list] [--lines] [--checkout FOLDER]`: the number of files of `src` that a search runs
 * through, and the lines of each room. The service runs with a Redis Cluster, searchd and V8's precise coverage. A file counts if one of its functions ran
 * during every one of the repeated requests, so that background timers do not count.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, type ParsedArguments, type Program, runProgram } from '../src/commands/arguments.ts';
import { openInspector } from './stack/inspector.ts';
import { freePort } from './stack/process.ts';
import { startCluster } from './stack/redis.ts';
import { startService } from './stack/service.ts';
import { sampleGoods, startSearchd } from './stack/sphinx.ts';

const PROGRAM: Program = {
  command: 'node loadtest/request-files.ts',
  usage: '[--list] [--lines] [--checkout FOLDER]',
  about: [
    'Counts the files of src in which a function ran during one L1 hit, one L2 hit and one miss with Sphinx, by the',
    'precise coverage of V8. Needs redis-server and searchd (npm test installs them); takes half a minute.',
  ],
  options: [
    { name: 'list', about: 'print the names as well' },
    { name: 'lines', about: 'count the lines of src, loadtest and test by room instead, and run nothing' },
    { name: 'checkout', takes: 'FOLDER', about: 'count another checkout, such as one from before a change' },
  ],
  takes: { min: 0, max: 0 },
};
const REPEATS = 20;
const SETTLED_MS = 30;
const DOCUMENTS = 3000;

async function main({ has, text }: ParsedArguments): Promise<number> {
  const root = resolve(text('checkout') ?? join(import.meta.dirname, '..'));
  if (has('lines')) {
    for (const [room, lines] of linesByRoom(root)) console.log(`${String(lines).padStart(7)} ${room}`);
    return EXIT.passed;
  }
  await using cleanUp = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-files-'));
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const cluster = await startCluster({ flavour: 'redis', masters: 3 });
  cleanUp.defer(cluster.stop);
  const searchd = await startSearchd({
    directory: join(folder, 'searchd'),
    from: { domains: [{ ...sampleGoods(DOCUMENTS), index: 'goods' }] },
  });
  cleanUp.defer(searchd.stop);
  const { host, port } = searchd;
  const goods = {
    store: { kind: 'cluster', nodes: cluster.nodes.map(({ address }) => address) },
    engine: { kind: 'sphinx', host, port, index: 'goods', idAttribute: 'doc_id', maxConcurrent: 4 },
    freshness: { ttl: '1h' },
    attributes: {
      category: { type: 'string', facet: true },
      city: { type: 'string', facet: true },
      price: { type: 'integer', sort: true },
    },
  };
  const start = (name: string) =>
    startCounted(root, { name, directory: folder, configuration: { domains: { goods } } });
  const searches = Array.from({ length: REPEATS }, (_, at) => `q=кроссовки&facet=city&filter=price:0..${5000 + at}`);
  const first = cleanUp.use(await start('first'));
  const missed = await first.filesOf('miss', searches);
  const hitL1 = await first.filesOf('hit-l1', searches);
  await first[Symbol.asyncDispose]();
  const second = cleanUp.use(await start('second'));
  const hitL2 = await second.filesOf('hit-l2', searches);
  for (const [way, files] of Object.entries({ 'L1 hit': hitL1, 'L2 hit': hitL2, 'miss with Sphinx': missed })) {
    console.log(`${way}: ${files.length} files of src`);
    if (has('list')) for (const file of files) console.log(`  ${file}`);
  }
  return EXIT.passed;
}

const COUNTED = /\.(ts|mjs|css|json)$/;
/** Data, not code that is owned. */
const UNCOUNTED = /\/records\/|\/recorded\/|package-lock\.json$/;
/** Folders whose subfolders are rooms of their own. */
const FOLDERS_OF_ROOMS = /^(?:src\/(?:engines|stores|operations|http|ui)|loadtest\/labs|test\/loadtest)\/[^/]+(?=\/)/;

/** Lines of the committed files of `src`, `loadtest` and `test`: of each whole, then of its rooms, the largest first. */
function linesByRoom(root: string): readonly (readonly [string, number])[] {
  const listed = execFileSync('git', ['ls-files', 'src', 'loadtest', 'test'], { cwd: root, encoding: 'utf8' });
  const files = listed.split('\n').filter((file) => COUNTED.test(file) && !UNCOUNTED.test(file));
  const lines = new Map<string, number>();
  for (const file of files) {
    const count = readFileSync(join(root, file), 'utf8').split('\n').length - 1;
    const [whole = ''] = file.split('/');
    const room = FOLDERS_OF_ROOMS.exec(file)?.[0] ?? file.split('/').slice(0, 2).join('/');
    for (const name of [whole, room]) lines.set(name, (lines.get(name) ?? 0) + count);
  }
  const isWhole = ([name]: readonly [string, number]): boolean => !name.includes('/');
  return [...lines].sort((a, b) => Number(isWhole(b)) - Number(isWhole(a)) || b[1] - a[1]);
}

/** The `Cache-Status` of each outcome. The member of L1 is the last one. */
const CACHE_STATUS = {
  'hit-l1': /^serpcache-l1; hit/,
  'hit-l2': /^serpcache-l2; hit/,
  miss: /^serpcache-l2; fwd=.*serpcache-l1; fwd=/,
} as const;

async function startCounted(root: string, options: Parameters<typeof startService>[0]) {
  const inspectorPort = await freePort();
  const nodeOptions = [`--inspect=127.0.0.1:${inspectorPort}`];
  const service = await startService({ ...options, checkout: root, nodeOptions });
  const inspector = await openInspector(inspectorPort);
  await inspector.send('Profiler.enable');
  await inspector.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const src = `file://${root}/src/`;
  // Reading the counts resets them.
  const ranSince = async (): Promise<ReadonlySet<string>> => {
    const { result } = (await inspector.send('Profiler.takePreciseCoverage')) as Profiler.TakePreciseCoverageReturnType;
    const ran = result.filter(
      ({ url, functions }) =>
        url.startsWith(src) && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
    );
    return new Set(ran.map(({ url }) => url.slice(src.length)));
  };
  const ask = async (search: string): Promise<string> => {
    const response = await fetch(`${service.url}/search?${search}`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${search} was answered with ${response.status}`);
    return response.headers.get('cache-status') ?? '';
  };
  await ask('q=first');
  return {
    /** Files of `src`, sorted, that ran during every search. @throws if a search has another outcome than `wanted` */
    filesOf: async (wanted: keyof typeof CACHE_STATUS, searches: readonly string[]): Promise<readonly string[]> => {
      let common: ReadonlySet<string> | undefined;
      for (const search of searches) {
        await ranSince();
        const status = await ask(search);
        if (!CACHE_STATUS[wanted].test(status)) throw new Error(`${search} is no ${wanted}: ${status}`);
        // The service counts, logs and stores a request after its last byte.
        await sleep(SETTLED_MS);
        const ran = await ranSince();
        common = common === undefined ? ran : common.intersection(ran);
      }
      return [...(common ?? [])].sort();
    },
    [Symbol.asyncDispose]: async () => {
      inspector.close();
      await service.stop();
    },
  };
}

process.exitCode = await runProgram(PROGRAM, main);
