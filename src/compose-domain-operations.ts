import type { ComposedDomain } from './compose-domain.ts';
import type { DrillDomain } from './operations/drills/drills.ts';
import { createFlush } from './operations/flush/create-flush.ts';
import type { FlushEvent } from './operations/flush/flush.ts';
import { createSweeper } from './operations/flush/sweep.ts';
import { createFleetReadings, createRecent } from './operations/meter/meter.ts';
import type { DomainOperations } from './operations/operations.ts';
import type { WarmUpDomain } from './operations/warm/warm-ups.ts';
import { type CounterStore, createSharedPopularity, type PopularityEvent } from './popularity/shared.ts';
import type { Clock } from './runtime.ts';
import { prepareSearch, storedNameOf } from './search/key.ts';
import { searchParametersOf, searchTextOf } from './search/query.ts';
import type { PreparedSearch } from './search/read-path.ts';

/** What operators may do to one domain. */
export interface ComposedDomainOperations extends DomainOperations {
  readonly drilled: DrillDomain;
  readonly warmed: WarmUpDomain<PreparedSearch>;
  readonly close: () => void;
}

export interface DomainOperationsComposition {
  readonly clock: Clock;
  readonly random: () => number;
  readonly processId: string;
  readonly counters: CounterStore | undefined;
  readonly observeFlush: (event: FlushEvent) => void;
  readonly observePopularity: (event: PopularityEvent) => void;
}

/** Whether a floor has risen is looked at so often: what a flush made useless may lie in memory for that long. */
const SWEEP_MS = 1000;

export function composeDomainOperations(
  { domain, settings, control, controlElsewhere, store, memory, meter, popularity, warm, spare }: ComposedDomain,
  { clock, random, processId, counters, observeFlush, observePopularity }: DomainOperationsComposition,
): ComposedDomainOperations {
  const { name } = domain;
  const dedicated = settings.store.kind !== 'none' && settings.store.dedicated;
  const recent = createRecent({ meter });
  const readings = createFleetReadings({ control, meter, processId });
  const sweeper = createSweeper({
    domain: name,
    document: control.document,
    memory,
    nameOf: (key) => storedNameOf(key, name),
    observe: observeFlush,
  });
  const sweeping = setInterval(sweeper.documentChanged, SWEEP_MS).unref();
  const holds = async (storeName: string): Promise<boolean | undefined> => {
    const read = await store?.read(storeName, settings.store.kind === 'none' ? 0 : settings.store.deadlineMs);
    return read === undefined || read.kind === 'fault' ? undefined : read.kind === 'value';
  };
  const flush = createFlush({
    domain: name,
    control,
    ...(store === undefined ? {} : { content: store.content, holds }),
    memory,
    bucketOf: (key) => storedNameOf(key, name).bucket,
    dedicated,
    controlElsewhere,
    recent: recent.figures,
    clock,
    random,
    observe: observeFlush,
  });
  const shared = createSharedPopularity({
    domain: name,
    local: popularity,
    searchOf: ({ request }) => searchTextOf(request, domain),
    ...(counters === undefined ? {} : { counters }),
    random,
    observe: observePopularity,
  });
  const prepare = (line: string): PreparedSearch => {
    const { pairs, header } = searchParametersOf(line);
    const own = pairs.filter(([parameter]) => parameter !== 'domain');
    return prepareSearch({ pairs: [...own, ['domain', name]], ...(header === undefined ? {} : { header }) }, [domain]);
  };
  return {
    control,
    flush,
    pagesOf: (typed) => {
      const pairs = [
        ['q', typed],
        ['domain', name],
      ] as const;
      const { request, canonical, storeName } = prepareSearch({ pairs }, [domain]);
      // No `&` of the text is left as it is in a canonical form.
      const [canonicalStart = ''] = canonical.split('&', 1);
      return { text: request.text, canonicalStart, firstStoreName: storeName };
    },
    popular: shared.top,
    drilled: {
      name,
      control,
      flush,
      readings,
      recent: recent.figures,
      nodes: () => store?.content.nodes() ?? [],
      dedicated,
      hasStore: store !== undefined,
      patienceMs: settings.patienceMs,
    },
    warmed: {
      prepare,
      warm,
      spare,
      popular: async (n) => (await shared.top(n)).queries.map(({ search }) => search),
    },
    close: () => {
      clearInterval(sweeping);
      sweeper.close();
      flush.close();
      shared.close();
      readings.close();
      recent.close();
    },
  };
}
