import {
  amplificationOfKeys,
  amplificationOfMisses,
  bytesOfStore,
  bytesPerSecond,
  capacityOfPermits,
  connectionsPerShard,
  coresBusy,
  engineLoad,
  type Formula,
  headroom,
  memoryEntryBytes,
  memoryNeeded,
  memoryOfProcess,
  pagesKept,
  permitsUsed,
  processesNeeded,
  reconnectStormMs,
  shardsNeeded,
  storeCommands,
  storeCores,
  storedEntryBytes,
  storeReads,
  survivableShare,
} from './formulas.ts';
import { INPUTS, type Input, type InputName, type Inputs } from './inputs.ts';
import { firstToBreak, type Limit, type LimitUnit, limitsOf } from './limits.ts';
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
  readonly verdict: 'holds' | 'breaks' | 'undecided';
  readonly inputs: Inputs;
  readonly figures: readonly SheetFigure[];
  readonly limits: readonly Limit[];
  /** The resource that is full at the lowest rate. */
  readonly first?: Limit;
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
  ['engineCapacity', 'the headroom follows from it; or --engine-latency, for the permits of the configuration'],
  ['engineLatencyMs', 'the permits in use follow from it'],
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
  const broken = limits.filter(({ used, capacity }) => used > capacity);
  return {
    verdict: broken.length > 0 ? 'breaks' : missing.length > 0 ? 'undecided' : 'holds',
    ...{ inputs, missing, limits },
    figures: figuresOf(quantities),
    ...(first === undefined ? {} : { first }),
    remarks: known.keys !== undefined && quantities.exponent === undefined ? [NO_EXPONENT] : [],
    advice: adviceOf(broken, first, quantities),
  };
}

/** Adds the inputs that follow from others: the hit ratio from popularity, the capacity from permits. */
function withDerived(given: Inputs): Inputs {
  const { rate, keys, exponent, ttlMs, permits, engineLatencyMs } = given;
  const follows = (value: number, source: string): Input => ({ value, from: 'derived', source });
  const hitRatio =
    given.hitRatio === undefined && rate && keys && exponent && ttlMs
      ? hitRatioOf({ groups: zipfGroups(keys.value, exponent.value), rate: rate.value }, ttlMs.value)
      : undefined;
  const capacity =
    given.engineCapacity === undefined && permits && engineLatencyMs
      ? capacityOfPermits.of({ permits: permits.value, latencyMs: engineLatencyMs.value })
      : undefined;
  return {
    ...given,
    ...(hitRatio === undefined ? {} : { hitRatio: follows(hitRatio, 'from --keys, --exponent and ttl') }),
    ...(capacity === undefined ? {} : { engineCapacity: follows(capacity, capacityOfPermits.text) }),
  };
}

/** Undefined without the inputs that every figure needs. */
function knownOf(inputs: Inputs): Known | undefined {
  const values = Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value]));
  const isKnown = (found: Readonly<Record<string, number>>): found is Known & Readonly<Record<string, number>> =>
    REQUIRED.every((name) => found[name] !== undefined);
  return isKnown(values) ? values : undefined;
}

const REQUIRED: readonly InputName[] = [
  ...(['rate', 'hitRatio', 'pageBytes', 'ttlMs', 'keptMs', 'permits'] as const),
  ...(['processors', 'networkBytes', 'memoryBytes', 'shardBytes', 'maxConnections'] as const),
];

type Told = Pick<Formula<never>, 'text' | 'source'>;

function figuresOf(q: Quantities): readonly SheetFigure[] {
  const figure = (
    name: string,
    unit: SheetFigure['unit'],
    value: number | undefined,
    { text, source }: Told,
  ): SheetFigure => ({ name, unit, value, formula: text, source });
  return [
    figure('processes', 'count', q.processes, processesNeeded),
    figure('processors of all processes', 'cores', q.cores, coresBusy),
    figure('share of searches from L1', 'share', q.memoryRatio, MEMORY_RATIO),
    figure('L1 of a process in use', 'bytes', q.memoryUsed, memoryNeeded),
    figure('resident memory of a process', 'bytes', q.processBytes, memoryOfProcess),
    figure('one page in L1', 'bytes', q.memoryEntry, memoryEntryBytes),
    figure('shards', 'count', q.shards, shardsNeeded),
    figure('pages in the store', 'count', q.pages, pagesKept),
    figure('one page in the store', 'bytes', q.storedEntry, storedEntryBytes),
    figure('memory of a shard', 'bytes', q.storedBytes / q.shards, memoryNeeded),
    figure('store reads', 'per-second', q.reads, storeReads),
    figure('store commands', 'per-second', q.commands, storeCommands),
    figure('processors of all shards', 'cores', q.coresOfStore, storeCores),
    figure('connections of a shard', 'count', q.connections, connectionsPerShard),
    figure('a shard busy with connects when all processes return', 'ms', q.stormMs, reconnectStormMs),
    figure('network to clients, a process', 'bytes-per-second', q.bytesToClients / q.processes, bytesPerSecond),
    figure('network from the store, a shard', 'bytes-per-second', q.bytesFromStore / q.shards, bytesOfStore),
    figure('Zipf exponent of the keys', 'number', q.exponent, EXPONENT),
    figure('engine load', 'per-second', q.engineLoad, engineLoad),
    figure('engine permits in use', 'count', q.permitsUsed, permitsUsed),
    figure('headroom H', 'times', q.headroom, headroom),
    figure(
      'amplification A',
      'times',
      q.amplification,
      q.ofKeys === undefined ? amplificationOfMisses : amplificationOfKeys,
    ),
    figure('survivable flushed share', 'share', q.survivable, survivableShare),
    figure('refill after a total loss', 'ms', q.refillMs, REFILL),
  ];
}

/** Full resources first, each with its change; else the one that is full next. */
function adviceOf(broken: readonly Limit[], first: Limit | undefined, q: Quantities): readonly string[] {
  const named = broken.length > 0 ? broken : first === undefined ? [] : [first];
  const { survivable, headroom: H } = q;
  return [
    ...named.map(({ name, advice }) => `${name}: ${advice}`),
    ...(survivable !== undefined && H !== undefined && H >= 1 && survivable < 1 ? [FLUSH_ADVICE] : []),
  ];
}

const NO_EXPONENT =
  'no popularity of so few keys has such a low hit ratio: count keys that are asked once, too; A is 1 ÷ (1 − hit ratio)';
const FLUSH_ADVICE =
  'a flush of more than the survivable share: in stages (serpcache drill), or --mode refresh, which keeps old pages meanwhile';
