import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { HostFacts, QdiscFacts } from '../facts.ts';

const run = promisify(execFile);
const LIMIT_MS = 1000;
/** Debian installs tc in a folder that is in root's PATH only. */
const PROGRAMS = ['tc', '/usr/sbin/tc', '/sbin/tc'];
/** A machine of many containers has hundreds of interfaces. Those with a rate come first. */
const MAX_DISCIPLINES = 200;
const MAX_DEVICES = 8;
const MAX_COMPLAINT = 120;

/** Reads the disciplines of all interfaces, and the classes of htb, which have its rates. */
export async function readQdiscs(programs: readonly string[] = PROGRAMS): Promise<HostFacts['qdiscs']> {
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
  const rateBits = rateOf(/\brate (\S+)/.exec(head)?.[1]);
  const ceilBits = rateOf(/\bceil (\S+)/.exec(head)?.[1]);
  // The smaller one of `burst` and `cburst` is the one that holds back.
  const bursts = [...head.matchAll(/\bc?burst ([\d.]+[KMG]?b)/gi)].flatMap(([, size]) => bytesOf(size) ?? []);
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

/** tc counts rates by 1000 and sizes by 1024. */
const RATES: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const SIZES: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** `50Mbit`, `1Gbit`, `800Kbit`, `64000bit`; in bits per second. */
function rateOf(text: string | undefined): number | undefined {
  const [, value, prefix = ''] = /^([\d.]+)([KMGT]?)bit$/i.exec(text ?? '') ?? [];
  return value === undefined ? undefined : Number(value) * (RATES[prefix.toLowerCase()] ?? 1);
}

/** `2Kb`, `1600b`. */
function bytesOf(text: string | undefined): number | undefined {
  const [, value, prefix = ''] = /^([\d.]+)([KMG]?)b$/i.exec(text ?? '') ?? [];
  return value === undefined ? undefined : Number(value) * (SIZES[prefix.toLowerCase()] ?? 1);
}
