import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadHost } from '../doctor.ts';
import type { HostFacts } from '../facts.ts';

/** The view of one host, made there by `doctor --host`, to be joined with an examination made elsewhere. */
export interface HostPart {
  readonly version: 1;
  /** In the order and at the distance of the snapshots of an examination. */
  readonly snapshots: readonly HostFacts[];
}

const SNAPSHOTS = 4;
const MAX_SNAPSHOTS = 100;

export async function createHostPart(readHost: ReadHost, windowMs: number): Promise<HostPart> {
  const snapshots: HostFacts[] = [];
  for (let at = 0; at < SNAPSHOTS; at += 1) {
    if (at > 0) await sleep(windowMs);
    snapshots.push(await readHost('full', []));
  }
  return { version: 1, snapshots };
}

/** Members that every host has, as parts. */
const PARTS = [
  ...['cpu', 'throttling', 'memory', 'tcp', 'interfaces', 'qdiscs', 'sockets', 'descriptors', 'kernel', 'intrinsic'],
  ...['dns', 'servers'],
];

/** @throws Error that says what is wrong with the part of a file */
export function hostPartOf(value: unknown): HostPart {
  const { version, snapshots } = membersOf(value, 'a part');
  if (version !== 1) throw new Error(`a part of another version: ${JSON.stringify(version)} instead of 1`);
  if (!Array.isArray(snapshots) || snapshots.length < 2 || snapshots.length > MAX_SNAPSHOTS) {
    throw new Error(`snapshots must be a list of 2 to ${MAX_SNAPSHOTS} hosts`);
  }
  return { version: 1, snapshots: snapshots.map(hostOf) };
}

function hostOf(value: unknown, at: number): HostFacts {
  const host = membersOf(value, `snapshots[${at}]`);
  const { name, addresses, wallMs, cores } = host;
  if (typeof name !== 'string' || name === '' || name.length > 253)
    throw new Error(`snapshots[${at}].name must be a host name`);
  if (!Array.isArray(addresses) || !addresses.every((one) => typeof one === 'string')) {
    throw new Error(`snapshots[${at}].addresses must be a list of addresses`);
  }
  if (typeof wallMs !== 'number' || typeof cores !== 'number') {
    throw new Error(`snapshots[${at}] must have the numbers wallMs and cores`);
  }
  for (const part of PARTS) {
    const member = membersOf(host[part], `snapshots[${at}].${part}`);
    if (!('known' in member) && typeof member['skipped'] !== 'string') {
      throw new Error(`snapshots[${at}].${part} must have known or skipped`);
    }
  }
  return { ...(value as HostFacts), role: 'part' };
}

function membersOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${what} is no object; serpcache doctor --host makes a part`);
  }
  return value as Readonly<Record<string, unknown>>;
}
