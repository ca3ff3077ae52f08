import { setTimeout as sleep } from 'node:timers/promises';
import Type, { type TProperties, type TSchema } from 'typebox';
import { Clean, Errors } from 'typebox/value';
import type { ReadHost } from '../doctor.ts';
import type { HostFacts } from '../facts.ts';

/** The view of one host, made there by `doctor --host`, to be joined with an examination made elsewhere. */
export interface HostPart {
  readonly version: 1;
  /** In the order and at the distance of the snapshots of an examination. */
  readonly snapshots: readonly HostFacts[];
}

const SNAPSHOTS = 4;
const MAX_ITEMS = 1000;

export async function createHostPart(readHost: ReadHost, windowMs: number): Promise<HostPart> {
  const snapshots: HostFacts[] = [];
  for (let at = 0; at < SNAPSHOTS; at += 1) {
    if (at > 0) await sleep(windowMs);
    snapshots.push(await readHost('full', []));
  }
  return { version: 1, snapshots };
}

const FIGURE = Type.Number({ minimum: 0 });
const TEXT = Type.String({ maxLength: 1024 });
const FEW = Type.Optional(FIGURE);

function figures(...names: readonly string[]): TSchema {
  return Type.Object(Object.fromEntries(names.map((name) => [name, FIGURE])));
}

function listOf(members: TProperties): TSchema {
  return Type.Array(Type.Object(members), { maxItems: MAX_ITEMS });
}

type PartName = Exclude<keyof HostFacts, 'name' | 'role' | 'addresses' | 'wallMs' | 'cores'>;

/** The known value of each part, as facts.ts has it. */
const PARTS: Readonly<Record<PartName, TSchema>> = {
  cpu: figures('busySeconds', 'idleSeconds', 'stolenSeconds'),
  throttling: figures('periods', 'throttled', 'throttledSeconds', 'limitCores'),
  memory: figures(...['totalBytes', 'availableBytes', 'swapTotalBytes', 'swapFreeBytes', 'swappedIn', 'swappedOut']),
  tcp: figures('segmentsOut', 'retransmits', 'listenOverflows', 'listenDrops', 'timeouts'),
  interfaces: listOf({ name: TEXT, speedMbit: FEW, receivedBytes: FIGURE, sentBytes: FIGURE, dropped: FIGURE }),
  qdiscs: listOf({
    ...{ device: TEXT, kind: TEXT, handle: TEXT, parent: TEXT },
    ...{ rateBits: FEW, guaranteedBits: FEW, burstBytes: FEW, limitBytes: FEW, latencyMs: FEW },
    ...{ sentBytes: FIGURE, sentPackets: FIGURE, dropped: FIGURE, overlimits: FIGURE, backlogBytes: FIGURE },
  }),
  sockets: listOf({ remote: TEXT, count: FIGURE, sendBytes: FIGURE, receiveBytes: FIGURE }),
  descriptors: figures('open', 'limit'),
  kernel: Type.Record(Type.String(), TEXT),
  intrinsic: figures('medianMs', 'maxMs', 'samples'),
  dns: listOf({
    ...{ name: TEXT, lookupMs: FEW, problem: Type.Optional(TEXT), ttlSeconds: FEW },
    addresses: Type.Array(TEXT, { maxItems: MAX_ITEMS }),
  }),
  servers: listOf({
    ...{ program: TEXT, pid: FIGURE, port: FEW, openFiles: FEW, maxOpenFiles: FEW },
    ...{ maxChildren: FEW, indexAgeSeconds: Type.Optional(Type.Record(Type.String(), FIGURE)) },
  }),
};

/** Members that are not known are left out. @throws Error that says what is wrong with the part of a file */
export function hostPartOf(value: unknown): HostPart {
  const { version, snapshots } = membersOf(value, 'a part');
  if (version !== 1) throw new Error(`a part of another version: ${JSON.stringify(version)} instead of 1`);
  if (!Array.isArray(snapshots) || snapshots.length !== SNAPSHOTS) {
    throw new Error(`snapshots must be a list of ${SNAPSHOTS} readings of a host`);
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
  const parts = Object.entries(PARTS).map(([part, schema]) => [
    part,
    partOf(host[part], schema, `snapshots[${at}].${part}`),
  ]);
  return { name, role: 'part', addresses, wallMs, cores, ...(Object.fromEntries(parts) as Pick<HostFacts, PartName>) };
}

function partOf(value: unknown, schema: TSchema, what: string): unknown {
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${what} is no object; serpcache doctor --host makes a part`);
  }
  return value as Readonly<Record<string, unknown>>;
}
