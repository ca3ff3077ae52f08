import * as formulas from './formulas.ts';
import { type InputName, MEASURED, PLANNED_SHARE } from './inputs.ts';
import { distinctKeys, exponentFor, type KeyTraffic, memoryRatioOf, refillMs, zipfGroups } from './popularity.ts';

/** Inputs without which a figure is left out, and nothing else. */
type Optional = 'engineCapacity' | 'engineLatencyMs' | 'keys' | 'exponent' | 'memoryRatio' | 'processes' | 'shards';

/** The values of the inputs. */
export type Known = Readonly<Record<Exclude<InputName, Optional>, number>> &
  Readonly<Partial<Record<Optional, number | undefined>>>;

/** Every quantity of the sheet, before it is judged. Rates are of the whole fleet. */
export type Quantities = ReturnType<typeof quantitiesOf>;

const FIRST_SECONDS = 1;
const MAX_PROCESSES = 10_000;

export function quantitiesOf(known: Known) {
  const { rate, hitRatio, keptMs, memoryBytes, networkBytes, shardBytes } = known;
  const load = formulas.engineLoad.of({ rate, hitRatio });
  const traffic = trafficOf(known);
  const entry = known.pageBytes + MEASURED.headBytes;
  const memoryEntry = formulas.memoryEntryBytes.of({ entryBytes: entry });
  const storedEntry = formulas.storedEntryBytes.of({ entryBytes: entry });
  const pages = formulas.pagesKept.of({ engineLoad: load, keptMs, keys: keysIn(known, traffic) });
  const fleet = fleetFor(known, load, traffic, memoryBytes / memoryEntry);

  const reads = formulas.storeReads.of({ rate, memoryRatio: fleet.memoryRatio });
  const commands = formulas.storeCommands.of({ reads, engineLoad: load });
  const coresOfStore = formulas.storeCores.of({ commands });
  const storedBytes = formulas.memoryNeeded.of({ pages, bytesEach: storedEntry });
  const bytesFromStore = formulas.bytesOfStore.of({ reads, engineLoad: load, bytesEach: entry });
  const shards =
    known.shards ??
    Math.max(
      formulas.shardsNeeded.of({ needed: storedBytes, each: shardBytes, share: PLANNED_SHARE.memory }),
      formulas.shardsNeeded.of({ needed: coresOfStore, each: 1, share: PLANNED_SHARE.shard }),
      formulas.shardsNeeded.of({ needed: bytesFromStore, each: networkBytes, share: PLANNED_SHARE.network }),
    );
  const memoryUsed = Math.min(memoryBytes, formulas.memoryNeeded.of({ pages, bytesEach: memoryEntry }));
  const answer = known.pageBytes + MEASURED.answerHeadBytes;
  return {
    engineLoad: load,
    pages,
    memoryEntry,
    storedEntry,
    ...fleet,
    exponent: traffic?.exponent,
    reads,
    commands,
    coresOfStore,
    storedBytes,
    bytesFromStore,
    shards,
    bytesToClients: formulas.bytesPerSecond.of({ perSecond: rate, bytesEach: answer }),
    memoryUsed,
    processBytes: formulas.memoryOfProcess.of({ memoryBytes: memoryUsed }),
    connections: formulas.connectionsPerShard.of({ processes: fleet.processes }),
    stormMs: formulas.reconnectStormMs.of({ processes: fleet.processes }),
    permitsUsed:
      known.engineLatencyMs === undefined
        ? undefined
        : formulas.permitsUsed.of({ engineLoad: load, latencyMs: known.engineLatencyMs }),
    ...survivalOf(known, load, traffic),
  };
}

interface Popularity extends KeyTraffic {
  readonly exponent: number;
}

/** Undefined without a number of keys, and when no exponent has that hit ratio with it. */
function trafficOf({ rate, keys, exponent, ttlMs, hitRatio }: Known): Popularity | undefined {
  if (keys === undefined) return undefined;
  const found = exponent ?? exponentFor(keys, rate, ttlMs, hitRatio);
  return found === undefined ? undefined : { groups: zipfGroups(keys, found), rate, exponent: found };
}

/** Keys that are asked for within the life of a page in the store. */
function keysIn({ keys, keptMs }: Known, traffic: KeyTraffic | undefined): number {
  return traffic === undefined ? (keys ?? Number.POSITIVE_INFINITY) : distinctKeys(traffic, keptMs / 1000);
}

/** Processes, their processor time, and the share of searches that their memory answers. */
function fleetFor(known: Known, load: number, traffic: KeyTraffic | undefined, fitting: number) {
  const { rate, hitRatio, ttlMs, processors } = known;
  const memoryRatioWith = (processes: number): number => {
    const found =
      known.memoryRatio ??
      (traffic === undefined
        ? hitRatio * MEASURED.memoryShareOfHits
        : memoryRatioOf(traffic, { ttlMs, processes, fitting }));
    return Math.min(hitRatio, found);
  };
  const coresWith = (processes: number): number => {
    const ratio = memoryRatioWith(processes);
    return formulas.coresBusy.of({ memoryHits: rate * ratio, storeHits: rate * (hitRatio - ratio), engineLoad: load });
  };
  // A further process lowers the share of L1, so the number is looked for from below.
  let processes = known.processes ?? 2;
  while (known.processes === undefined && processes < MAX_PROCESSES) {
    const needed = formulas.processesNeeded.of({ cores: coresWith(processes), processors });
    if (needed <= processes) break;
    processes = Math.min(MAX_PROCESSES, needed);
  }
  return { processes, cores: coresWith(processes), memoryRatio: memoryRatioWith(processes) };
}

/** The engine after a loss of pages. */
function survivalOf(known: Known, load: number, traffic: KeyTraffic | undefined) {
  const { hitRatio, ttlMs, permits, engineLatencyMs: latencyMs } = known;
  // The guard refuses what its permits do not admit, whatever the engine could do.
  const admitted = latencyMs === undefined ? undefined : (permits * 1000) / latencyMs;
  const bounds = [known.engineCapacity, admitted];
  const least = Math.min(...bounds.filter((bound) => bound !== undefined));
  const capacity = Number.isFinite(least) ? least : undefined;
  const ofMisses = formulas.amplificationOfMisses.of({ hitRatio });
  const ofKeys =
    traffic === undefined
      ? undefined
      : formulas.amplificationOfKeys.of({
          distinct: distinctKeys(traffic, FIRST_SECONDS) / FIRST_SECONDS,
          engineLoad: load,
        });
  const amplification = Math.min(ofMisses, ofKeys ?? ofMisses);
  const H = capacity === undefined ? undefined : formulas.headroom.of({ capacity, engineLoad: load });
  return {
    ofKeys,
    amplification,
    headroom: H,
    survivable: H === undefined ? undefined : formulas.survivableShare.of({ headroom: H, amplification }),
    refillMs: traffic === undefined || capacity === undefined ? undefined : refillMs(traffic, load, capacity, ttlMs),
  };
}
