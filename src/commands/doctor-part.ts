import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TSchema } from 'typebox';
import { Clean, Errors } from 'typebox/value';
import type { ReadHost } from '../operations/doctor/doctor.ts';
import { HOST_FIGURES, type HostFacts, type Snapshot } from '../operations/doctor/facts.ts';
import { isMapping } from '../schema/read.ts';
import { MIB } from '../schema/units.ts';
import { messageOf, UsageError } from './arguments.ts';

/** The view of one host, made there by `doctor --host`, to be joined with an examination made elsewhere. */
export interface HostPart {
  readonly version: 1;
  /** In the order and at the distance of the snapshots of an examination. */
  readonly snapshots: readonly HostFacts[];
}

const SNAPSHOTS = 4;
const MAX_PART_BYTES = 16 * MIB;

export async function createHostPart(readHost: ReadHost, windowMs: number): Promise<HostPart> {
  const snapshots: HostFacts[] = [];
  for (let at = 0; at < SNAPSHOTS; at += 1) {
    if (at > 0) await sleep(windowMs);
    snapshots.push(await readHost('full', []));
  }
  return { version: 1, snapshots };
}

/** @throws UsageError when it is no part of a host */
export function partIn(file: string): HostPart {
  try {
    if (statSync(file).size > MAX_PART_BYTES) throw new Error(`larger than ${MAX_PART_BYTES} bytes`);
    return hostPartFrom(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new UsageError(`--merge ${file}: ${messageOf(error)}`);
  }
}

/** Members that are not known are left out. @throws Error that says what is wrong with the part of a file */
export function hostPartFrom(value: unknown): HostPart {
  const { version, snapshots } = membersOf(value, 'a part');
  if (version !== 1) throw new Error(`a part of another version: ${JSON.stringify(version)} instead of 1`);
  if (!Array.isArray(snapshots) || snapshots.length !== SNAPSHOTS) {
    throw new Error(`snapshots must be a list of ${SNAPSHOTS} readings of a host`);
  }
  return { version: 1, snapshots: snapshots.map(hostFrom) };
}

function hostFrom(value: unknown, at: number): HostFacts {
  const host = membersOf(value, `snapshots[${at}]`);
  const { name, addresses, wallMs } = host;
  if (typeof name !== 'string' || name === '' || name.length > 253)
    throw new Error(`snapshots[${at}].name must be a host name`);
  if (!Array.isArray(addresses) || !addresses.every((one) => typeof one === 'string')) {
    throw new Error(`snapshots[${at}].addresses must be a list of addresses`);
  }
  if (typeof wallMs !== 'number') throw new Error(`snapshots[${at}] must have the number wallMs`);
  const figures = Object.fromEntries(
    Object.entries(HOST_FIGURES).map(([figure, schema]) => [
      figure,
      figureFrom(host[figure], schema, `snapshots[${at}].${figure}`),
    ]),
  ) as Pick<HostFacts, keyof typeof HOST_FIGURES>;
  return { name, role: 'part', addresses, wallMs, ...figures };
}

function figureFrom(value: unknown, schema: TSchema, what: string): unknown {
  const member = membersOf(value, what);
  if (!('known' in member)) {
    if (typeof member['skipped'] !== 'string') throw new Error(`${what} must have known or skipped`);
    return { skipped: member['skipped'] };
  }
  const known = Clean(schema, member['known']);
  const [error] = Errors(schema, known);
  if (error !== undefined) throw new Error(`${what}.known${error.instancePath.replaceAll('/', '.')} ${error.message}`);
  return { known };
}

function membersOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isMapping(value)) throw new Error(`${what} is no object; serpcache doctor --host makes a part`);
  return value;
}

/**
 * Adds the hosts that `doctor --host` saw, snapshot by snapshot: the first of a part to the first of the examination. They
 * were taken at other moments; counters are compared within one host only.
 */
export function mergeParts(snapshots: readonly Snapshot[], parts: readonly HostPart[]): readonly Snapshot[] {
  return snapshots.map((snapshot, at) => {
    const hosts: HostFacts[] = [...snapshot.hosts];
    for (const part of parts) {
      const host = part.snapshots[at];
      if (host !== undefined) hosts.push({ ...host, name: freeName(host.name, hosts) });
    }
    return { ...snapshot, hosts };
  });
}

/** Two hosts may have one name: containers, network namespaces. */
function freeName(name: string, hosts: readonly HostFacts[]): string {
  const taken = new Set(hosts.map((host) => host.name));
  let free = name;
  for (let at = 2; taken.has(free); at += 1) free = `${name} (part ${at})`;
  return free;
}
