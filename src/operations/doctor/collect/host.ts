import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type Clock, inParallel, settledWithin } from '../../../runtime.ts';
import type { ReadHost } from '../doctor.ts';
import type { DnsFacts, HostFacts, QdiscFacts, ServerFacts } from '../facts.ts';
import { fieldNumber, median } from '../window.ts';

interface HostReaderOptions {
  readonly role: HostFacts['role'];
  readonly clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  /** Where /proc and /sys are; a test has its own. */
  readonly root?: string;
  /** Programs that are tried for `tc`. */
  readonly tc?: readonly string[];
}

/** Reads the host of this process; never rejects. A cheap reading opens files only; a full one runs `tc` and looks names up. */
export function createHostReader({ role, clock, root = '/', tc }: HostReaderOptions): ReadHost {
  const readNames = createNameReader({ clock });

  const memory = async (): Promise<HostFacts['memory']> => {
    const vm = await readFile(join(root, 'proc/vmstat'), 'utf8').catch(() => '');
    const figure = (name: string): number => Number(new RegExp(`^${name} +(\\d+)$`, 'm').exec(vm)?.[1]);
    const known = { swappedIn: figure('pswpin'), swappedOut: figure('pswpout') };
    return Number.isNaN(known.swappedIn + known.swappedOut)
      ? { skipped: 'a figure is missing in /proc/vmstat' }
      : { known };
  };
  return async (depth, names) => {
    const isFull = depth === 'full';
    const wallMs = clock.wallMs();
    // The last four start a program or a thread, ask a resolver, or look at every process.
    const [swap, qdiscs, intrinsic, looked, servers] = await Promise.all([
      memory(),
      isFull ? readQdiscs(tc) : CHEAP,
      isFull ? measureTimers() : CHEAP,
      isFull ? readNames(names).then((known) => ({ known })) : CHEAP,
      isFull ? serversAt(root, wallMs).then((known) => ({ known })) : CHEAP,
    ]);
    return {
      name: hostname(),
      role,
      addresses: addressesHere(),
      wallMs,
      memory: swap,
      qdiscs,
      intrinsic,
      dns: looked,
      servers,
    };
  };
}

const CHEAP = { skipped: 'cheap' };

function addressesHere(): readonly string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  } catch {
    return [];
  }
}

const TIMERS = 60;
const TIMERS_LIMIT_MS = 1000;

/** A thread of its own, so that the event loop of the service is not measured: it is another figure. */
const TIMER_THREAD = `
  const { parentPort } = require('node:worker_threads');
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const late = [];
  for (let at = 0; at < ${TIMERS}; at += 1) {
    const from = performance.now();
    Atomics.wait(cell, 0, 0, 1);
    late.push(performance.now() - from - 1);
  }
  parentPort.postMessage(late);`;

async function measureTimers(): Promise<HostFacts['intrinsic']> {
  const limit = AbortSignal.timeout(TIMERS_LIMIT_MS);
  let worker: Worker | undefined;
  try {
    worker = new Worker(TIMER_THREAD, { eval: true, execArgv: [] });
    const [late]: (readonly number[])[] = await once(worker, 'message', { signal: limit });
    const known = { medianMs: Math.max(0, median(late ?? []) ?? 0), maxMs: Math.max(0, ...(late ?? [])) };
    return { known: { ...known, samples: late?.length ?? 0 } };
  } catch {
    return { skipped: `its thread ${limit.aborted ? 'did not end in time' : 'failed'}` };
  } finally {
    void worker?.terminate();
  }
}

// --- names ------------------------------------------------------------------------------------------------------------

interface NameReaderOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** As a connection resolves a name. @returns its addresses */
  readonly lookup?: (name: string) => Promise<readonly string[]>;
}

const MAX_NAMES = 16;
/**
 * getaddrinfo holds a thread, and libuv gives it two at a time. With more at once a name would be charged with the time in
 * which it waited for the others.
 */
const AT_ONCE = 2;
const LOOKUP_LIMIT_MS = 1000;
/** After this time no look-up begins any more; the names that are left get no facts. */
const BEGIN_LIMIT_MS = 500;

/** Times the resolution of names. A name whose look-up has no answer yet is not looked up again, because each holds a thread. */
export function createNameReader({ clock, lookup: addresses = addressesOf }: NameReaderOptions) {
  const running = new Set<string>();

  const timed = async (name: string): Promise<DnsFacts> => {
    if (running.has(name)) return { name, addresses: [], problem: 'an earlier look-up has no answer yet' };
    running.add(name);
    const startedMs = clock.monotonicMs();
    const looked = addresses(name)
      .then(
        (known): DnsFacts => ({ name, lookupMs: clock.monotonicMs() - startedMs, addresses: known }),
        (error): DnsFacts => ({ name, addresses: [], problem: codeOf(error) }),
      )
      .finally(() => running.delete(name));
    const answered = await settledWithin(looked, LOOKUP_LIMIT_MS);
    return answered?.value ?? { name, addresses: [], problem: `no answer within ${LOOKUP_LIMIT_MS} ms` };
  };

  return async (names: readonly string[]): Promise<readonly DnsFacts[]> => {
    const startedMs = clock.monotonicMs();
    const found = await inParallel(names.slice(0, MAX_NAMES), AT_ONCE, async (name) =>
      clock.monotonicMs() - startedMs > BEGIN_LIMIT_MS ? undefined : timed(name),
    );
    return found.filter((facts) => facts !== undefined);
  };
}

async function addressesOf(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function codeOf(error: unknown): string {
  if (error instanceof Error) return 'code' in error ? String(error.code) : error.message;
  return String(error);
}

const run = promisify(execFile);
const LIMIT_MS = 1000;
/** Debian installs tc in a folder that is in root's PATH only. */
const TC_PROGRAMS = ['tc', '/usr/sbin/tc', '/sbin/tc'];
/** A machine of many containers has hundreds of interfaces. Those with a rate come first. */
const MAX_DISCIPLINES = 200;
const MAX_DEVICES = 8;
const MAX_COMPLAINT = 120;

/** Reads the disciplines of all interfaces, and the classes of htb, which have its rates. */
export async function readQdiscs(programs: readonly string[] = TC_PROGRAMS): Promise<HostFacts['qdiscs']> {
  for (const tc of programs) {
    try {
      const qdiscs = disciplinesOf(await shownBy(tc, 'qdisc'));
      const devices = new Set(qdiscs.filter(({ kind }) => kind === 'htb').map(({ device }) => device));
      const classes = await Promise.all(
        [...devices]
          .slice(0, MAX_DEVICES)
          .map(async (device) => disciplinesOf(await shownBy(tc, 'class', device), device)),
      );
      const weight = ({ rateBits }: QdiscFacts): number => (rateBits === undefined ? 1 : 0);
      const sorted = [...qdiscs, ...classes.flat()].toSorted((a, b) => weight(a) - weight(b));
      return { known: sorted.slice(0, MAX_DISCIPLINES) };
    } catch (error) {
      if (!isMissing(error)) return { skipped: `tc does not show the disciplines: ${complaint(error)}` };
    }
  }
  return { skipped: 'the program tc is missing (package iproute2)' };
}

async function shownBy(tc: string, what: 'qdisc' | 'class', device?: string): Promise<string> {
  const where = device === undefined ? [] : ['dev', device];
  const { stdout } = await run(tc, ['-s', '-d', what, 'show', ...where], { timeout: LIMIT_MS });
  return stdout;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function complaint(error: unknown): string {
  if (error instanceof Error && 'killed' in error && error.killed === true) return `no answer within ${LIMIT_MS} ms`;
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const [line = ''] = (said || String(error instanceof Error ? error.message : error)).split('\n');
  return line.slice(0, MAX_COMPLAINT);
}

/**
 * The output of `tc -s -d qdisc show` or `tc -s -d class show`: one paragraph for each discipline or class.
 * @param device that was asked for: tc then leaves it out
 */
export function disciplinesOf(shown: string, device = ''): readonly QdiscFacts[] {
  return shown
    .split(/^(?=(?:qdisc|class) )/m)
    .filter((text) => HEAD.test(text))
    .map((text) => disciplineOf(text, device));
}

const HEAD = /^(?:qdisc|class) (\S+) (\S+) (?:dev (\S+) )?(?:root|parent (\S+))?/;

function disciplineOf(text: string, asked: string): QdiscFacts {
  const [head = '', ...rest] = text.split('\n');
  const statistics = rest.join(' ');
  const [, kind = '', handle = '', device = asked, parent = 'root'] = HEAD.exec(head) ?? [];
  const count = (pattern: RegExp): number => Number(pattern.exec(statistics)?.[1] ?? 0);
  const rateBits = figureOf(/\brate (\S+)bit/.exec(head)?.[1], 1000);
  const ceilBits = figureOf(/\bceil (\S+)bit/.exec(head)?.[1], 1000);
  // The smaller one of `burst` and `cburst` is the one that holds back.
  const bursts = [...head.matchAll(/\bc?burst ([\d.]+[KMG]?)b/gi)].flatMap(([, size]) => figureOf(size, 1024) ?? []);
  return {
    device,
    kind,
    handle,
    parent,
    // A class of htb may borrow up to its ceiling.
    rateBits: rateBits === undefined ? undefined : Math.max(rateBits, ceilBits ?? 0),
    guaranteedBits: ceilBits === undefined ? undefined : rateBits,
    burstBytes: bursts.length === 0 ? undefined : Math.min(...bursts),
    sentBytes: count(/Sent (\d+) bytes/),
    dropped: count(/dropped (\d+)/),
    overlimits: count(/overlimits (\d+)/),
  };
}

/** `50M` of `50Mbit`, `1.5K` of `1.5Kb`. tc counts rates by 1000 and sizes by 1024. */
function figureOf(text: string | undefined, base: 1000 | 1024): number | undefined {
  const [, value, prefix = ''] = /^([\d.]+)([KMGT]?)$/i.exec(text ?? '') ?? [];
  const power = ['', 'k', 'm', 'g', 't'].indexOf(prefix.toLowerCase());
  return value === undefined ? undefined : Number(value) * base ** power;
}

const PROGRAMS: ReadonlySet<string> = new Set(['redis-server', 'valkey-server', 'keydb-server', 'searchd']);
const MAX_SERVERS = 64;
const MAX_CONFIGURATION_BYTES = 2 ** 20;
const MAX_INDEXES = 64;

/** Store and engine servers that run on this host, from /proc. Arguments are read and not kept: they may hold passwords. */
export async function serversAt(root: string, nowMs: number): Promise<readonly ServerFacts[]> {
  const names = await readdir(join(root, 'proc')).catch(() => []);
  const found: ServerFacts[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name) || found.length >= MAX_SERVERS) continue;
    const server = await serverOf(join(root, 'proc', name), Number(name), nowMs);
    if (server !== undefined) found.push(server);
  }
  return found;
}

async function serverOf(folder: string, pid: number, nowMs: number): Promise<ServerFacts | undefined> {
  const line = await textOf(join(folder, 'cmdline'));
  // Redis sets a title with spaces: `redis-server *:6379 [cluster]`.
  const words = line.split(/[\0 ]+/).filter((word) => word !== '');
  const program = basename(words[0] ?? '');
  // A Sentinel runs in the same program and keeps no entries.
  if (!PROGRAMS.has(program) || words.includes('[sentinel]')) return undefined;
  if (program === 'searchd') return { program, pid, ...(await searchdFacts(folder, words, nowMs)) };
  return { program, pid, port: fieldNumber(/:(\d+)$/.exec(words[1] ?? '')?.[1]) };
}

/** The configuration of a searchd, when it can be read: its port, max_children, and the age of each index. */
async function searchdFacts(folder: string, words: readonly string[], nowMs: number): Promise<Partial<ServerFacts>> {
  const at = words.findIndex((word) => word === '--config' || word === '-c');
  const named = at < 0 ? '/etc/sphinxsearch/sphinx.conf' : (words[at + 1] ?? '');
  const home = await readlink(join(folder, 'cwd')).catch(() => '/');
  const file = isAbsolute(named) ? named : join(home, named);
  const found = await stat(file).catch(() => undefined);
  // Anybody may give a program this name and any argument: a device has no end.
  if (found?.isFile() !== true || found.size > MAX_CONFIGURATION_BYTES) return {};
  const { port, children, paths } = searchdConfigurationOf(await textOf(file));
  const ages: Record<string, number> = {};
  for (const [index, path] of paths) {
    const header = `${isAbsolute(path) ? path : join(dirname(file), path)}.sph`;
    const modified = (await stat(header).catch(() => undefined))?.mtimeMs;
    if (modified !== undefined) ages[index] = Math.max(0, (nowMs - modified) / 1000);
  }
  return {
    port: fieldNumber(port),
    // 0: no limit.
    maxChildren: children === '0' ? undefined : fieldNumber(children),
    indexAgeSeconds: Object.keys(ages).length === 0 ? undefined : ages,
  };
}

/** Read line by line: a pattern over a whole file may take quadratic time. */
function searchdConfigurationOf(text: string) {
  let [port, children, index]: (string | undefined)[] = [];
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^[ \t]*(\w+)[ \t]*[= \t][ \t]*(\S+)/.exec(line) ?? [];
    if (name === 'listen') port ??= /(?:^|:)(\d+):mysql/.exec(value)?.[1];
    else if (name === 'max_children') children = /^\d+$/.exec(value)?.[0];
    else if (name === 'index' || name === 'table') index = /^\w+/.exec(value)?.[0];
    else if (name === 'path' && index !== undefined && paths.size < MAX_INDEXES) paths.set(index, value);
    if (/^[ \t]*\}/.test(line)) index = undefined;
  }
  return { port, children, paths };
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
