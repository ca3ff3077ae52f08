import { setTimeout as sleep } from 'node:timers/promises';
import { columns } from '../../src/commands/terminal.ts';
import type { ShadowFigures } from '../../src/operations/shadow/figures.ts';
import { all, clusterOk, until } from '../stack/redis.ts';
import type { RedisNode } from '../stack/redis-node.ts';
import { replicaAt } from './harness.ts';
import { type Figure, percent, say } from './rehearse.ts';
import {
  endOfShadow,
  READS,
  replaceIn,
  type ShadowHarness,
  type ShadowRehearsal,
  sayCriteria,
  shadowOfAll,
  valueIn,
} from './shadow-harness.ts';
import { addedP99, compareInTurns, cpuMsPerSearch, windowDuring, windowOf } from './windows.ts';

/* Scenarios before a cut-over: a candidate that fills up, one that is measured against none, and ones that fail or lie. */

const FIRST_FRACTION = 0.25;
const FIRST_POINTS = 3;
const ALL_POINTS = 10;
const POINT_SECONDS = 10;
const VERDICT_SECONDS = 60;
const POINTS = 0.02;

/** The candidate fills up with a quarter of the keys, then with all of them, and is judged. */
export async function warmUp({ harness, load, pids }: ShadowRehearsal): Promise<readonly Figure[]> {
  const { operator } = replicaAt(harness, 0);
  await endOfShadow(harness);
  const curve: Point[] = [];
  const follow = async (fraction: number, points: number): Promise<void> => {
    for (let point = 0; point < points; point += 1) {
      await sleep(POINT_SECONDS * 1000);
      const { figures, elapsedMs = 0 } = await operator.status(POINT_SECONDS);
      if (figures !== undefined) curve.push({ seconds: Math.round(elapsedMs / 1000), fraction, figures });
    }
  };
  const { errors, answers } = await windowDuring({ load, pids }, async () => {
    await operator.start(FIRST_FRACTION);
    await follow(FIRST_FRACTION, FIRST_POINTS);
    await operator.change(1);
    await follow(1, ALL_POINTS);
  });
  const { verdict, figures } = await operator.status(VERDICT_SECONDS);
  console.log(`\n${columns(curve.map(curveRow), CURVE_HEAD)}\n`);
  sayCriteria(verdict);
  const last = gapOf(curve.at(-1)?.figures);
  return [
    [
      `hit ratio of the candidate, its last ${POINT_SECONDS} s`,
      `${percent(last.candidate)}, primary ${percent(last.primary)}`,
      'within 2 points',
      last.primary - last.candidate <= POINTS,
    ],
    [
      `verdict over ${VERDICT_SECONDS} s`,
      `${verdict?.kind}: ${verdict?.why}`,
      'cut-over',
      verdict?.kind === 'cut-over',
    ],
    [
      'wrong values',
      `${figures?.agreement.wrong} of ${figures?.agreement.compared} compared`,
      '0',
      figures?.agreement.wrong === 0,
    ],
    errorFigure('searches unanswered', errors, answers.length),
  ];
}

const CURVE_HEAD = ['s', 'share of keys', 'reads/s', 'copies/s', 'hits of primary', 'hits of candidate', 'dropped'];

interface Point {
  readonly seconds: number;
  readonly fraction: number;
  readonly figures: ShadowFigures;
}

function curveRow({ seconds, fraction, figures }: Point): string[] {
  const { primary, candidate, copying } = figures;
  const gap = gapOf(figures);
  return [
    String(seconds),
    percent(fraction),
    primary.readsPerSecond.toFixed(0),
    candidate.readsPerSecond.toFixed(0),
    percent(gap.primary),
    percent(gap.candidate),
    String(copying.dropped),
  ];
}

function gapOf(figures: ShadowFigures | undefined): { readonly primary: number; readonly candidate: number } {
  return {
    primary: figures?.primary.hitRatio ?? Number.NaN,
    candidate: figures?.candidate.hitRatio ?? Number.NaN,
  };
}

export function errorFigure(what: string, errors: number, searches: number): Figure {
  return [what, `${errors} of ${searches}`, '0', errors === 0 && searches > 0];
}

const TURNS = { pairs: 4, windowMs: 15_000, settleMs: 1000 };
const MAX_ADDED = 0.05;
const FAULT_MS = 6000;

/** Windows with and without a shadow in turns, and then a candidate that fails in every way. */
export async function unnoticed({ harness, load, pids }: ShadowRehearsal): Promise<readonly Figure[]> {
  const watched = { load, pids };
  const compared = await compareInTurns(watched, TURNS, (isOn) => (isOn ? shadowOfAll(harness) : endOfShadow(harness)));
  const { off, on } = compared;
  for (const [at, without] of off.entries()) {
    const p99s = [without, on[at]].map((one) => one?.p99Ms.toFixed(2));
    say(`pair ${at + 1}: p99 ${p99s[0]} ms without, ${p99s[1]} ms with the shadow`);
  }
  const { offMs, onMs, added, noise } = addedP99(compared);
  const bound = Math.max(MAX_ADDED, noise);
  const windows = [...off, ...on];
  const errors = windows.reduce((sum, window) => sum + window.errors, 0);
  const searches = windows.reduce((sum, { answers }) => sum + answers.length, 0);
  const [cpuOff, cpuOn] = [cpuMsPerSearch(off), cpuMsPerSearch(on)];
  const figures: Figure[] = [
    [
      `added p99, ${TURNS.pairs} pairs`,
      `${percent(added)} (${offMs.toFixed(2)} ms off, ${onMs.toFixed(2)} ms on)`,
      `≤ ${percent(bound)} (5 %, off against off ${percent(noise)})`,
      added <= bound,
    ],
    errorFigure('searches unanswered, off and on', errors, searches),
    [
      `CPU per search, reads ×${READS}`,
      `${cpuOff.toFixed(2)} ms off, ${cpuOn.toFixed(2)} ms on`,
      'stated',
      cpuOff > 0 && cpuOn > 0,
    ],
  ];
  for (const { name, begin, effect, end } of CANDIDATE_FAULTS) {
    await shadowOfAll(harness);
    await sleep(2000);
    await Promise.all(harness.candidate.nodes.map(begin));
    const window = await windowOf(watched, FAULT_MS);
    const felt = effect === undefined ? await failedCopies(harness) : await refusedWrites(harness);
    await Promise.all(harness.candidate.nodes.map(end));
    await endOfShadow(harness);
    const { p99Ms, answers } = window;
    figures.push(
      [
        `candidate ${name}`,
        `${window.errors} of ${answers.length} unanswered, p99 ${p99Ms.toFixed(2)} ms`,
        '0',
        window.errors === 0 && answers.length > 0,
      ],
      ['and its effect', `${felt} ${effect ?? 'copies failed'}`, 'above 0', felt > 0],
    );
  }
  await until('the candidate to be a cluster again', () => all(harness.candidate.nodes, clusterOk));
  return figures;
}

interface CandidateFault {
  readonly name: string;
  readonly begin: (node: RedisNode) => Promise<unknown>;
  readonly end: (node: RedisNode) => Promise<unknown>;
  /** Counted by the servers. Absent: copies fail. */
  readonly effect?: string;
}

const CANDIDATE_FAULTS: readonly CandidateFault[] = [
  { name: 'hangs (SIGSTOP)', begin: (node) => node.pause(), end: async (node) => node.resume() },
  {
    name: 'refuses each command',
    begin: (node) => node.command('ACL', 'SETUSER', 'default', '-@read', '-@write', '-@scripting'),
    end: (node) => node.command('ACL', 'SETUSER', 'default', '+@all'),
  },
  {
    name: 'is full',
    begin: async (node) => {
      // The shadow began with a full candidate: an empty one has something to write.
      await node.command('FLUSHALL');
      // A share of this memory for clients would close connections, those of the rehearsal too.
      await node.command('CONFIG', 'SET', 'maxmemory-clients', '0');
      await node.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1');
    },
    end: async (node) => {
      await node.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru', 'maxmemory', '256mb');
      await node.command('CONFIG', 'SET', 'maxmemory-clients', '25%');
    },
    effect: 'writes refused for want of memory',
  },
  { name: 'is killed', begin: (node) => node.kill(), end: (node) => node.restart() },
];

/** Errors of the candidate's reads and writes, and copies that had no room in the queue. */
async function failedCopies(harness: ShadowHarness): Promise<number> {
  const { figures } = await replicaAt(harness, 0).operator.status(10);
  const errors = Object.values(figures?.candidate.errors ?? {}).reduce((sum, count) => sum + count, 0);
  return errors + (figures?.copying.dropped ?? 0);
}

/** By the servers, since they started. */
async function refusedWrites({ candidate }: ShadowHarness): Promise<number> {
  const infos = await Promise.all(candidate.nodes.map((node) => node.command('INFO', 'errorstats')));
  return infos.reduce<number>((sum, info) => sum + Number(/errorstat_OOM:count=(\d+)/.exec(String(info))?.[1] ?? 0), 0);
}

/** Pages of these searches differ from those of the load by their number of results. */
const LIED_LIMIT = 7;
const FLIPPED = 8;
const EXCHANGED = 4;
const WHOLE_SHADOW_SECONDS = 86_400;

/** Values of the candidate are changed behind its back; the comparison must find each of them, and no other. */
export async function lying({ harness, probe, load, pids }: ShadowRehearsal): Promise<readonly Figure[]> {
  await endOfShadow(harness);
  await shadowOfAll(harness);
  const { operator } = replicaAt(harness, 0);
  const texts = harness.newTexts(FLIPPED + EXCHANGED);
  const names: string[] = [];
  const told: string[] = [];
  const bodyAt = async (replica: number, text: string): Promise<string> => {
    const reply = await probe.ask(replica, text, LIED_LIMIT);
    return reply.kind === 'answer' ? reply.body : '';
  };
  for (const text of texts) {
    told.push(await bodyAt(0, text));
    names.push((await operator.explain(text, LIED_LIMIT)).storeName);
  }
  const copyOf = (name: string): Promise<Buffer | undefined> => valueIn(harness, name);
  await until('copies of the pages', async () =>
    (await Promise.all(names.map(copyOf))).every((value) => value !== undefined),
  );
  // The first interval of a recorder has no figures.
  await sleep(5000);
  const wrongBefore = await wrongValues(harness);

  for (const [at, name] of names.entries()) {
    const value = await copyOf(name);
    const other = await copyOf(names[(at + 1) % names.length] ?? name);
    if (value === undefined || other === undefined) throw new Error(`the candidate lost ${name}`);
    await replaceIn(harness, name, at < FLIPPED ? withFlippedByte(value) : other);
  }
  let isSame = true;
  const { errors, answers } = await windowDuring({ load, pids }, async () => {
    // Another replica reads each of them once from the store.
    for (const [at, text] of texts.entries()) isSame = (await bodyAt(1, text)) === told[at] && isSame;
    await sleep(6000);
  });
  const { wrongKeys } = await operator.status(WHOLE_SHADOW_SECONDS);
  const found = (await wrongValues(harness)) - wrongBefore;
  const isListed =
    wrongKeys.length === names.length && names.every((name) => wrongKeys.some((key) => name.includes(key)));
  // Nothing that was planted stays behind.
  for (const name of names) await replaceIn(harness, name, undefined);
  await endOfShadow(harness);
  return [
    [
      'wrong values found',
      `${found} (${FLIPPED} with a changed byte, ${EXCHANGED} entries of other searches)`,
      `${names.length} planted`,
      found === names.length,
    ],
    ['keys in the report', `${wrongKeys.length}`, 'those planted', isListed],
    ['pages that users got meanwhile', isSame ? 'those of the primary' : 'changed', 'those of the primary', isSame],
    errorFigure('searches unanswered', errors, answers.length),
  ];
}

async function wrongValues(harness: ShadowHarness): Promise<number> {
  const { figures } = await replicaAt(harness, 0).operator.status(WHOLE_SHADOW_SECONDS);
  return figures?.agreement.wrong ?? Number.NaN;
}

/** In the body, after the header and the canonical form. */
function withFlippedByte(value: Buffer): Buffer {
  const next = Buffer.from(value);
  const at = next.length - 10;
  next.writeUInt8(next.readUInt8(at) ^ 1, at);
  return next;
}
