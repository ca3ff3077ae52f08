import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
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

const FIGURES = Object.entries(HOST_FIGURES).map(([name, known]) => {
  return [name, Type.Union([Type.Object({ known }), Type.Object({ skipped: Type.String() })])] as const;
});
const PART = Type.Object({
  version: Type.Literal(1),
  snapshots: Type.Array(
    Type.Object({
      name: Type.String({ minLength: 1, maxLength: 253 }),
      addresses: Type.Array(Type.String()),
      wallMs: Type.Number(),
      ...Object.fromEntries(FIGURES),
    }),
    { minItems: SNAPSHOTS, maxItems: SNAPSHOTS },
  ),
});

/** Members that are not known are left out. @throws Error that says what is wrong with the part of a file */
export function hostPartFrom(value: unknown): HostPart {
  if (isMapping(value) && value['version'] !== 1) {
    throw new Error(`a part of another version: ${JSON.stringify(value['version'])} instead of 1`);
  }
  const part = Clean(PART, value);
  const [error] = Errors(PART, part);
  if (error !== undefined) {
    const place = error.instancePath.slice(1).replaceAll('/', '.') || 'a part';
    throw new Error(`${place} ${error.message}; serpcache doctor --host makes a part`);
  }
  const { snapshots } = part as HostPart;
  return { version: 1, snapshots: snapshots.map((host) => ({ ...host, role: 'part' })) };
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
