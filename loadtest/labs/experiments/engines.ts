import { countText } from '../../../src/report/format.ts';
import type { Experiment, Lab, LabStore } from '../kit/lab.ts';
import { alternately } from '../kit/rounds.ts';
import { type Engine, type EngineSetting, knownEngines, startEngine } from './engines/engine.ts';
import { type CounterRow, enginesLesson, type MixRow, type ReadRow } from './engines/lesson.ts';
import { CONNECTIONS, fillMix, fillReads, type Load, mixLoad, READ_KEYS, readLoad } from './engines/load.ts';
import { costChart, counterChart, counterTable, mixTable, readTable } from './engines/tables.ts';
import { CLIENTS, threeClients } from './one-and-three.ts';

const ROUNDS = 3;
const SECONDS = 0.8;
const COUNTERS = 1000;
const IO_THREADS: readonly number[] = [1, 2, 4];

interface Side extends EngineSetting {
  readonly engine: Engine;
  readonly store: LabStore;
}

/** Redis, Valkey and whatever else is given, by the same generators. */
export const engines: Experiment = {
  varies: 'Redis, Valkey and servers given by path; TLS, io-threads; one store and three',
  parts: ['redis', 'valkey', 'openssl'],
  run: async (lab) => {
    const known = await knownEngines(lab);
    const all = known.filter(({ problem }) => problem === undefined);
    const counters = await countersOf(lab, all);
    await lab.clear();
    const mix = await mixOf(lab, all);
    await lab.clear();
    const settings = settingsOf(lab);
    const reads = await readsOf(lab, all, settings);
    const { storeCount } = lab.cores;
    const most = Math.max(...settings.map(({ ioThreads }) => ioThreads));
    const fixed = all.filter(({ isConfigurable }) => !isConfigurable).map(({ name }) => name);
    return {
      title: 'Engines under one load',
      published:
        'KeyDB is ahead at x5 and with TLS; yet INCR by three clients, one store and three: Redis 9.30 and 6.68 µs, KeyDB 10.8 and 8.05, Dragonfly 12.3 and 14.6',
      tables: [mixTable(known, mix), readTable(all, reads, settings, storeCount), counterTable(all, counters)],
      charts: [costChart(all, mix, reads), counterChart(all, counters)],
      lesson: enginesLesson({ mix, reads, counters }),
      notes: [
        `Every engine is asked by the same generator, on cores of its own: the driver for the mix, redis-benchmark for the rest, Valkey too. Figures are medians of ${ROUNDS} runs that took turns. Where the generator is full the rate is the generator's; the cores a store takes for as many commands are its own.`,
        `The published mix is sent by ${CONNECTIONS} connections as fast as they are answered: the published x5 is not a rate that is known, so this is what stands for it. redis-benchmark reads ${countText(READ_KEYS)} stored values of the same sizes; with TLS its ${CONNECTIONS} handshakes are in what the store took.`,
        ...known.flatMap(({ name, problem }) =>
          problem === undefined ? [] : [`${name} was not measured: ${problem}`],
        ),
        ...(lab.servers.length === 0
          ? [
              'Only Redis and Valkey were measured: KeyDB, Dragonfly and others are in no package archive this can install from; a server given by its path gets rows of its own.',
            ]
          : []),
        ...(fixed.length === 0
          ? []
          : [
              `${fixed.join(', ')}: started with a port and an address only, so rows with TLS or io-threads were not measured, and its memory has no bound of ours.`,
            ]),
        ...(most <= storeCount
          ? []
          : [
              `Stores have ${storeCount === 1 ? 'one core' : `${storeCount} cores`} here, fewer than ${most} io-threads: such rows show what too many threads cost, not what threads are good for.`,
            ]),
        ...(most < Math.max(...IO_THREADS)
          ? [`${Math.max(...IO_THREADS)} io-threads were left out: more than twice the cores of the stores.`]
          : []),
      ],
    };
  },
};

function settingsOf({ cores }: Lab): readonly EngineSetting[] {
  // Up to one doubling too many, which is what a wrong setting looks like.
  const threads = IO_THREADS.filter((count) => count <= 2 * cores.storeCount);
  return [false, true].flatMap((isTls) => threads.map((ioThreads) => ({ isTls, ioThreads })));
}

async function countersOf(lab: Lab, all: readonly Engine[]): Promise<readonly CounterRow[]> {
  const variants: { readonly engine: Engine; readonly count: 1 | 3; readonly stores: readonly LabStore[] }[] = [];
  for (const engine of all) {
    const plain = (): Promise<LabStore> => startEngine(lab, engine, { isTls: false, ioThreads: 1 });
    variants.push({ engine, count: 1, stores: [await plain()] });
    variants.push({ engine, count: CLIENTS, stores: [await plain(), await plain(), await plain()] });
  }
  const measured = await alternately<(typeof variants)[number], CounterRow>(
    variants,
    ROUNDS,
    async ({ engine, count, stores }, before) => {
      lab.say(`INCR, ${engine.name}, stores: ${count}`);
      const expected = before.at(-1)?.perSecond;
      const run = await threeClients(lab, {
        stores,
        command: (client) => ['INCR', `counter-${client}:__rand_int__`],
        keySpace: COUNTERS,
        seconds: lab.seconds(SECONDS),
        ...(expected !== undefined && { expectedPerSecond: expected }),
      });
      return { ...run, engine: engine.name, stores: count };
    },
    ({ usPerOp }) => usPerOp,
  );
  return measured.map(({ run }) => run);
}

async function mixOf(lab: Lab, all: readonly Engine[]): Promise<readonly MixRow[]> {
  const settings = [false, true].map((isTls) => ({ isTls, ioThreads: 1 }));
  const sides = await started(lab, all, settings, fillMix);
  return loaded(lab, sides, 'the mix', ({ store }) => mixLoad(lab, store, lab.seconds(SECONDS)));
}

async function readsOf(
  lab: Lab,
  all: readonly Engine[],
  settings: readonly EngineSetting[],
): Promise<readonly ReadRow[]> {
  const sides = await started(lab, all, settings, fillReads);
  return loaded(lab, sides, 'reads', ({ store, ioThreads }) => readLoad(lab, store, lab.seconds(SECONDS), ioThreads));
}

async function started(
  lab: Lab,
  all: readonly Engine[],
  settings: readonly EngineSetting[],
  fill: (lab: Lab, store: LabStore) => Promise<void>,
): Promise<readonly Side[]> {
  const sides: Side[] = [];
  for (const setting of settings) {
    for (const engine of all) {
      const isPlain = !setting.isTls && setting.ioThreads === 1;
      if (!engine.isConfigurable && !isPlain) continue;
      const store = await startEngine(lab, engine, setting);
      await fill(lab, store);
      sides.push({ engine, store, ...setting });
    }
  }
  return sides;
}

async function loaded(
  lab: Lab,
  sides: readonly Side[],
  what: string,
  load: (side: Side) => Promise<Load>,
): Promise<readonly ReadRow[]> {
  const measured = await alternately<Side, Load>(
    sides,
    ROUNDS,
    (side) => {
      const { engine, isTls, ioThreads } = side;
      lab.say(`${what}, ${engine.name}${isTls ? ', TLS' : ''}${ioThreads > 1 ? `, io-threads ${ioThreads}` : ''}`);
      return load(side);
    },
    ({ coresPer100k }) => coresPer100k,
  );
  return measured.map(({ variant: { engine, isTls, ioThreads }, run }) => ({
    ...run,
    engine: engine.name,
    isTls,
    ioThreads,
  }));
}
