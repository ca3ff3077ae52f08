import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { bytesText, countText } from '../../../../src/report/format.ts';
import type { LabStore } from '../../kit/lab.ts';
import { ADDRESSES } from './wide-store.ts';

/** What bounds the connections between one driver process and one store. */
export interface RoomFigures {
  /** Of a process: the driver's. */
  readonly fileLimit: number;
  /** What the store made of the `maxclients` it was given, by its own file limit. */
  readonly maxClients: number;
  /** Local ports to one address. */
  readonly ports: number;
  readonly addresses: number;
  readonly freeBytes: number;
}

export interface Room {
  readonly most: number;
  /** A sentence. */
  readonly why: string;
}

/** As published: 2,000 were, 60,000–70,000 were required. */
const LADDER = [200, 2000, 10_000, 30_000, 65_000];
const TOP = LADDER.at(-1) ?? 0;
/** A last rung nearer than that says nothing new. */
const NEXT_RUNG = 1.25;
/** Of the driver for itself, and of the store for whoever looks at it meanwhile. */
const OWN_FILES = 64;
const OWN_CLIENTS = 32;
/** Closed ones keep theirs for a while. */
const SHARE_OF_PORTS = 0.5;
/** Buffers of the store, and of the kernel at both ends. */
const BYTES_EACH = 100 * 1024;
const ROUNDED_TO = 100;

/** How many connections can be, and what ends them there. */
export function roomOf(figures: RoomFigures): Room {
  const { fileLimit, maxClients, ports, addresses, freeBytes } = figures;
  const bounds = [
    {
      most: fileLimit - OWN_FILES,
      why: `a process may open ${countText(fileLimit)} files and the driver needs one for each`,
    },
    {
      most: maxClients - OWN_CLIENTS,
      why: `the store took its own maxclients down to ${countText(maxClients)}, as its file limit demands`,
    },
    {
      most: ports * addresses * SHARE_OF_PORTS,
      why: `there are ${countText(ports)} local ports to each of ${addresses} loopback addresses`,
    },
    { most: freeBytes / BYTES_EACH, why: `${bytesText(freeBytes)} of memory are free` },
  ];
  const least = Math.min(...bounds.map(({ most }) => most));
  if (least >= TOP) return { most: TOP, why: `The ladder ends at ${countText(TOP)}, where the published one does.` };
  const most = Math.max(1, least < ROUNDED_TO ? least : Math.floor(least / ROUNDED_TO) * ROUNDED_TO);
  const reasons = bounds.filter((bound) => bound.most < least + ROUNDED_TO).map(({ why }) => why);
  return { most, why: `The ladder ends at ${countText(most)} connections: ${reasons.join(', and ')}.` };
}

/** The published rungs that can be, and the most that can be when it is well above the last of them. */
export function rungsOf(most: number, ladder: readonly number[] = LADDER): readonly number[] {
  const rungs = ladder.filter((rung) => rung <= most);
  return most >= (rungs.at(-1) ?? 0) * NEXT_RUNG && most < (ladder.at(-1) ?? 0) ? [...rungs, most] : rungs;
}

export async function roomHere(store: Pick<LabStore, 'command'>): Promise<Room> {
  const answer = await store.command('CONFIG', 'GET', 'maxclients');
  const maxClients = Array.isArray(answer) ? Number(answer[1]) : 0;
  const [first = 32_768, last = 60_999] = (readText('/proc/sys/net/ipv4/ip_local_port_range') ?? '')
    .split(/\s+/)
    .flatMap((text) => (text === '' ? [] : [Number(text)]));
  // Node raises its own soft limit to the hard one.
  const files = /^Max open files\s+\S+\s+(\d+)/m.exec(readText('/proc/self/limits') ?? '')?.[1];
  return roomOf({
    fileLimit: files === undefined ? Number.POSITIVE_INFINITY : Number(files),
    maxClients,
    ports: last - first + 1,
    addresses: ADDRESSES.length,
    freeBytes: freemem(),
  });
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
