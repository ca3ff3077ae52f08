import { createReseeder } from './cache/backfill.ts';
import { type EntryRules, isRefused } from './cache/invalidation.ts';
import type { MemoryTier } from './cache/memory.ts';
import type { Store } from './cache/store.ts';
import type { DomainSettings } from './config/settings.ts';
import type { Membership } from './control/membership.ts';
import type { Popularity } from './popularity/popularity.ts';
import type { Clock } from './runtime.ts';
import type { SearchEvent } from './search/events.ts';
import { storedNameOf } from './search/key.ts';
import type { PreparedSearch } from './search/read-path.ts';
import { createRefreshAhead, type Refresh } from './search/refresh.ts';

/** What keeps a domain's cache well beside its searches: pages refreshed ahead of need, a lost store re-seeded. */
export interface Upkeep {
  readonly close: () => void;
}

export interface UpkeepParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: SearchEvent) => void;
  readonly store?: Store;
  readonly memory: MemoryTier;
  readonly fleet: Membership;
  readonly rules: EntryRules;
  readonly popularity: Popularity<PreparedSearch>;
  readonly refresh: Refresh;
  readonly spare: () => number;
}

/** Popular queries looked at for a refresh ahead of need, each time. */
const POPULAR_LOOKED_AT = 200;

export function composeUpkeep(settings: DomainSettings, parts: UpkeepParts): Upkeep {
  const { name, disabledDefences: without, reseedPerSecond } = settings;
  const { store, memory, rules, popularity } = parts;
  const ahead = without.includes('refresh')
    ? undefined
    : createRefreshAhead({
        ...parts,
        popular: () => popularity.top(POPULAR_LOOKED_AT),
        peek: (prepared) => {
          const entry = memory.peek(prepared.key);
          if (entry === undefined) return undefined;
          const verdict = rules.judge(entry, prepared);
          return isRefused(verdict) ? undefined : { entry, outdated: verdict === 'outdated' };
        },
        refresh: parts.refresh.ahead,
      });
  const reseeder =
    store === undefined || without.includes('reseed') || reseedPerSecond === 0
      ? undefined
      : createReseeder({
          ...parts,
          domain: name,
          store,
          nameOf: (key) => storedNameOf(key, name),
          hottest: () => popularity.top(settings.popularity.maxQueries).map(({ key }) => key),
          perSecond: reseedPerSecond,
        });
  return {
    close: () => {
      ahead?.close();
      reseeder?.close();
    },
  };
}
