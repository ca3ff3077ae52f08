/**
 * `node loadtest/labs/peers/repeat.ts <peer> [pages]`: measures one row of cached pages again: the engine, the origin, a store and
 * one replica are started, the pages are cached and requested, and everything is stopped again.
 */
import {
  EXIT,
  numberOf,
  type ParsedArguments,
  type Program,
  runProgram,
  UsageError,
} from '../../../src/commands/arguments.ts';
import { amountText, durationText, perSecondText } from '../../../src/report/format.ts';
import { stopOnSignals } from '../../stack/process.ts';
import { processorsHere } from '../../stack/processors.ts';
import { coresOf, inLab, type Lab } from '../kit/lab.ts';
import { startBackend } from './backend.ts';
import { LONG, type Peer, SIZES } from './peer.ts';
import { installParts, PARTS, PEERS, ROW_SECONDS } from './peers.ts';
import { fillPages, pagesOf, startReplicas } from './replicas.ts';
import { pageRound, warmUp } from './serving.ts';

const LIMIT_MS = 10 * 60_000;

const NAMES = PEERS.map(({ name }) => `'${name}'`).join(', ');

const PROGRAM: Program = {
  command: 'node loadtest/labs/peers/repeat.ts',
  usage: '<peer> [pages]',
  about: [`One row of cached pages again, alone, with 1 to ${SIZES.pages} pages; 1 by default. The peers are`, NAMES],
  options: [],
  takes: { min: 1, max: 2 },
};

// All servers end with this process.
process.exit(await runProgram(PROGRAM, repeat));

async function repeat({ positionals: [name, count = '1'] }: ParsedArguments): Promise<number> {
  const peer = PEERS.find((one) => one.name === name);
  if (peer === undefined) throw new UsageError(`no peer "${name}"; allowed: ${NAMES}`);
  const pages = numberOf('pages', count, { least: 1, most: SIZES.pages, whole: true });
  const say = (text: string): void => console.error(`  ${text}`);
  using stopping = stopOnSignals(say);
  const options = {
    cores: coresOf(processorsHere()),
    say,
    signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(LIMIT_MS)]),
  };
  console.log(await inLab(options, (lab) => again(lab, peer, pages)));
  return EXIT.passed;
}

async function again(lab: Lab, one: Peer, pages: number): Promise<string> {
  await installParts(lab, { parts: [...PARTS, ...one.parts] });
  lab.say('an engine, its origin, and pages of about 4 KB');
  const backend = await startBackend(lab.folder, { ttlSeconds: LONG.ttlSeconds, cores: lab.cores.generator });
  lab.atEnd(backend.stop);
  // Chosen from as many pages as the table's, so that they are the same.
  const paths = (await pagesOf(backend, SIZES.pages + SIZES.memoryPages)).slice(0, pages);
  const replicas = await startReplicas(lab, backend, one, { count: 1, ...LONG });
  await fillPages(lab, replicas.urls, paths);
  await warmUp(lab, replicas, paths);
  lab.say(`${one.name}: wrk with 64 connections, then ${SIZES.perSecond} requests a second`);
  const row = await pageRound(lab, replicas, { paths, seconds: lab.seconds(ROW_SECONDS), perSecond: SIZES.perSecond });
  return [
    `${one.name}, ${pages === 1 ? 'one page' : `${pages} pages`}: ${perSecondText(row.perCore)} per core`,
    `${perSecondText(row.perSecond)} with ${amountText(row.serverCores)} cores of the server and ${amountText(row.clientCores)} of client and store`,
    `p50 ${durationText(row.p50Ms)} and p99 ${durationText(row.p99Ms)} at ${SIZES.perSecond}/s`,
    `${amountText(row.storeCommands)} store commands per request, ${amountText(row.storeCommandsAtRate)} at ${SIZES.perSecond}/s`,
  ].join('; ');
}
