import * as formulas from './formulas.ts';
import { breakingRate } from './formulas.ts';
import { INPUTS, type InputName, type Inputs } from './inputs.ts';
import { EXPONENT, hitRatioOf, MEMORY_RATIO, REFILL, zipfGroups } from './popularity.ts';
import { type Known, type Quantities, quantitiesOf } from './quantities.ts';

/** One line of the sheet. */
export interface SheetFigure {
  readonly name: string;
  /** Undefined: an input is missing, or there is no bound. */
  readonly value: number | undefined;
  readonly unit: LimitUnit | 'share' | 'times' | 'ms' | 'number';
  readonly formula: string;
  readonly source: string;
}

export interface CapacitySheet {
  /** `tight`: no resource is full, but one is used beyond its planned share. */
  readonly verdict: 'holds' | 'tight' | 'breaks' | 'undecided';
  readonly inputs: Inputs;
  readonly figures: readonly SheetFigure[];
  readonly limits: readonly CapacityLimit[];
  /** The resource that is full at the lowest rate. */
  readonly first?: CapacityLimit;
  /** Options without which a limit cannot be judged. */
  readonly missing: readonly { readonly option: string; readonly why: string }[];
  /** Inputs that contradict each other. */
  readonly remarks: readonly string[];
  readonly advice: readonly string[];
}

/** Inputs without which nothing can be said, and those without which a limit is not judged. */
const NEEDED: readonly (readonly [InputName, string])[] = [
  ['rate', 'everything follows from it'],
  ['hitRatio', 'the engine load follows from it; or --keys with --exponent'],
  [
    'engineCapacity',
    'what the processors of the engine can do; without it H and the survivable share are at most these',
  ],
  ['engineLatencyMs', 'the permits in use follow from it; without it H and the survivable share are at most these'],
];

/** The capacity sheet of one domain. The same inputs give the same sheet. */
export function capacitySheet(given: Inputs): CapacitySheet {
  const inputs = withDerived(given);
  const missing = NEEDED.flatMap(([name, why]) =>
    inputs[name] === undefined ? [{ option: `--${INPUTS[name].option}`, why }] : [],
  );
  const known = knownOf(inputs);
  if (known === undefined)
    return { verdict: 'undecided', inputs, figures: [], limits: [], missing, remarks: [], advice: [] };
  const quantities = quantitiesOf(known);
  const limits = limitsOf(known, quantities);
  const first = firstToBreak(limits);
  const beyond = limits.filter(({ used, capacity, planned }) => used > capacity * planned);
  const isBroken = beyond.some(({ used, capacity }) => used > capacity);
  const judged = missing.length > 0 ? 'undecided' : beyond.length > 0 ? 'tight' : 'holds';
  return {
    verdict: isBroken ? 'breaks' : judged,
    inputs,
    missing,
    limits,
    figures: figuresOf(quantities),
    first,
    remarks: [
      ...(known.keys === undefined ? [NO_KEYS] : []),
      ...(known.memoryRatio !== undefined && known.memoryRatio > known.hitRatio ? [MEMORY_ABOVE] : []),
      ...(known.keptMs < known.ttlMs ? [KEPT_BELOW] : []),
      ...(quantities.shards > MAX_SHARDS ? [TOO_MANY_SHARDS] : []),
      ...(known.keys !== undefined && quantities.exponent === undefined ? [NO_EXPONENT] : []),
    ],
    advice: adviceOf(beyond, first, quantities),
  };
}

/** Adds the hit ratio that follows from popularity. */
function withDerived(given: Inputs): Inputs {
  const { rate, keys, exponent, ttlMs } = given;
  if (given.hitRatio !== undefined || !rate || !keys || !exponent || !ttlMs) return given;
  const value = hitRatioOf({ groups: zipfGroups(keys.value, exponent.value), rate: rate.value }, ttlMs.value);
  return { ...given, hitRatio: { value, from: 'derived', source: 'from --keys, --exponent and ttl' } };
}

/** Undefined without the inputs that every figure needs. */
function knownOf(inputs: Inputs): Known | undefined {
  const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input?.value]));
  const isKnown = (found: Readonly<Record<string, number | undefined>>): found is Known & typeof values =>
    REQUIRED.every((name) => found[name] !== undefined);
  return isKnown(values) ? values : undefined;
}

const REQUIRED: readonly InputName[] = [
  ...(['rate', 'hitRatio', 'pageBytes', 'ttlMs', 'keptMs', 'permits'] as const),
  ...(['processors', 'networkBytes', 'memoryBytes', 'shardBytes', 'maxConnections'] as const),
];

function figuresOf(q: Quantities): readonly SheetFigure[] {
  const figure = (
    name: string,
    unit: SheetFigure['unit'],
    value: number | undefined,
    { text, source }: Pick<formulas.Formula<never>, 'text' | 'source'>,
  ): SheetFigure => ({ name, unit, value, formula: text, source });
  return [
    figure('processes', 'count', q.processes, formulas.processesNeeded),
    figure('processors of all processes', 'cores', q.cores, formulas.coresBusy),
    figure('share of searches from L1', 'share', q.memoryRatio, MEMORY_RATIO),
    figure('L1 of a process in use', 'bytes', q.memoryUsed, formulas.memoryNeeded),
    figure('resident memory of a process', 'bytes', q.processBytes, formulas.memoryOfProcess),
    figure('one page in L1', 'bytes', q.memoryEntry, formulas.memoryEntryBytes),
    figure('shards', 'count', q.shards, formulas.shardsNeeded),
    figure('pages in the store', 'count', q.pages, formulas.pagesKept),
    figure('one page in the store', 'bytes', q.storedEntry, formulas.storedEntryBytes),
    figure('memory of a shard', 'bytes', q.storedBytes / q.shards, formulas.memoryNeeded),
    figure('store reads', 'per-second', q.reads, formulas.storeReads),
    figure('store commands', 'per-second', q.commands, formulas.storeCommands),
    figure('processors of all shards', 'cores', q.coresOfStore, formulas.storeCores),
    figure('connections of a shard', 'count', q.connections, formulas.connectionsPerShard),
    figure('a shard busy with connects when all processes return', 'ms', q.stormMs, formulas.reconnectStormMs),
    figure(
      'network to clients, a process',
      'bytes-per-second',
      q.bytesToClients / q.processes,
      formulas.bytesPerSecond,
    ),
    figure('network from the store, a shard', 'bytes-per-second', q.bytesFromStore / q.shards, formulas.bytesOfStore),
    figure('Zipf exponent of the keys', 'number', q.exponent, EXPONENT),
    figure('engine load', 'per-second', q.engineLoad, formulas.engineLoad),
    figure('engine permits in use', 'count', q.permitsUsed, formulas.permitsUsed),
    figure('headroom H', 'times', q.headroom, formulas.headroom),
    figure(
      'amplification A',
      'times',
      q.amplification,
      q.ofKeys === undefined ? formulas.amplificationOfMisses : formulas.amplificationOfKeys,
    ),
    figure('survivable flushed share', 'share', q.survivable, formulas.survivableShare),
    figure('refill after a total loss', 'ms', q.refillMs, REFILL),
  ];
}

/** Resources beyond their planned share, each with its change; else the one that is full next. */
function adviceOf(
  beyond: readonly CapacityLimit[],
  first: CapacityLimit | undefined,
  q: Quantities,
): readonly string[] {
  const named = beyond.length > 0 ? beyond : first === undefined ? [] : [first];
  const { survivable, headroom: H } = q;
  return [
    ...named.map(({ name, advice }) => `${name}: ${advice}`),
    ...(survivable !== undefined && H !== undefined && H >= 1 && survivable < 1 ? [FLUSH_ADVICE] : []),
  ];
}

/** The specification of Redis Cluster suggests no more. */
const MAX_SHARDS = 1000;
const TOO_MANY_SHARDS = 'Redis Cluster is meant for at most 1,000 nodes: several stores, or larger shards';
const MEMORY_ABOVE = '--memory-ratio is above the hit ratio, of which it is a part: the hit ratio was used';
const KEPT_BELOW = '--kept is below the ttl: a page cannot leave the store while it is fresh, so take the larger one';
const NO_KEYS =
  'without --keys the pages in the store, their memory and the shards are at most these: a page that is computed again takes no new place';
const NO_EXPONENT =
  'no popularity of so few keys has such a low hit ratio: count keys that are asked once, too; A is 1 ÷ (1 − hit ratio)';
const FLUSH_ADVICE =
  'a flush of more than the survivable share: in stages (serpcache drill), or --mode refresh, which keeps old pages meanwhile';

type LimitUnit = 'per-second' | 'count' | 'cores' | 'bytes' | 'bytes-per-second';

/** A resource that can be full. */
export interface CapacityLimit {
  readonly name: string;
  readonly unit: LimitUnit;
  readonly used: number;
  readonly capacity: number;
  /** Share of the capacity that a plan may use; the rest is for bursts and growth. */
  readonly planned: number;
  /** The rate of searches at which it is full; absent when it does not follow the rate. */
  readonly breaksAt?: number;
  /** A change that gives more of it. */
  readonly advice: string;
}

/** The alerts of deploy/prometheus fire at these shares of the engine's permits and of an event loop. */
const PLANNED = { engine: 0.8, process: 0.85, network: 0.85, shard: 0.8, memory: 0.9, connections: 0.8 } as const;

/** Every resource at the planned rate, while one process is away. */
function limitsOf(known: Known, q: Quantities): readonly CapacityLimit[] {
  const { rate, engineCapacity, permits, processors, networkBytes, shardBytes, maxConnections, keys } = known;
  const carrying = Math.max(1, q.processes - 1);
  const limit = (
    name: string,
    unit: LimitUnit,
    [used, capacity, planned]: readonly [number, number, number],
    advice: string,
  ): CapacityLimit => ({ name, unit, used, capacity, planned, advice });
  const grows = (...given: Parameters<typeof limit>): CapacityLimit => {
    const made = limit(...given);
    return { ...made, breaksAt: breakingRate.of({ rate, used: made.used, capacity: made.capacity }) };
  };
  const limits: CapacityLimit[] = [];
  if (engineCapacity !== undefined) {
    const advice = 'a longer ttl or more memory for a higher hit ratio, or a further mirror of the engine';
    limits.push(grows('engine', 'per-second', [q.engineLoad, engineCapacity, PLANNED.engine], advice));
  }
  if (q.permitsUsed !== undefined) {
    const advice = 'raise engine.maxConcurrent while the engine has free processors; else a further mirror';
    limits.push(grows('engine permits', 'count', [q.permitsUsed, permits, PLANNED.engine], advice));
  }
  limits.push(
    grows(
      'processor of a process',
      'cores',
      [q.cores / carrying, Math.min(1, processors), PLANNED.process],
      'more processes (--replicas)',
    ),
    grows(
      'network of a process',
      'bytes-per-second',
      [q.bytesToClients / carrying, networkBytes, PLANNED.network],
      'more processes on further hosts, smaller pages, or a faster network',
    ),
    grows(
      'network of a shard',
      'bytes-per-second',
      [q.bytesFromStore / q.shards, networkBytes, PLANNED.network],
      'more shards on further hosts, a larger L1, or smaller pages',
    ),
    grows(
      'processor of a shard',
      'cores',
      [q.coresOfStore / q.shards, 1, PLANNED.shard],
      'more shards, or a larger L1',
    ),
    // With known keys the memory follows their number, which a higher rate does not change.
    (keys === undefined ? grows : limit)(
      'memory of a shard',
      'bytes',
      [q.storedBytes / q.shards, shardBytes, PLANNED.memory],
      'more shards, more memory for each, or a shorter staleIfError, which keeps pages of rare searches',
    ),
    limit(
      'processes while one is away',
      'count',
      [1, q.processes - 1, 1],
      'a second process: nothing answers while the only one is away',
    ),
    limit(
      'connections of a shard',
      'count',
      [q.connections, maxConnections, PLANNED.connections],
      'fewer and larger processes, or a higher maxclients',
    ),
  );
  return limits;
}

/** The limit that is reached at the lowest rate. */
function firstToBreak(limits: readonly CapacityLimit[]): CapacityLimit | undefined {
  const growing = limits.filter(({ breaksAt }) => breaksAt !== undefined);
  return growing.toSorted((a, b) => (a.breaksAt ?? 0) - (b.breaksAt ?? 0))[0];
}
