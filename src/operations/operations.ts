import type { Control, ControlSummary } from '../control/control.ts';
import type { QueryCount } from '../popularity/shared.ts';
import type { DomainStatus } from '../search/status.ts';
import type { Drills } from './drills/drills.ts';
import type { Flush, QueryPages } from './flush/flush.ts';
import type { Figures } from './meter/figures.ts';
import type { WarmUps } from './warm/warm.ts';
/** What operators may ask of the service, beyond what `Search` says: the one core under the API, the CLI and the console. */
export interface Operations {
  /** Configured names, in order. */
  readonly domains: readonly string[];
  /** @throws OperationRefused unknown-domain, naming the known ones. */
  readonly domain: (name: string) => DomainOperations;
  readonly drills: Drills;
  readonly warm: WarmUps;
  /** Now, and what each domain of this process did since the last call of the same watcher. */
  readonly watch: () => Watcher;
}

export interface DomainOperations {
  readonly control: Control;
  readonly flush: Flush;
  /** The pages of what a person typed. @throws InvalidSearch */
  readonly pagesOf: (typed: string) => QueryPages;
  readonly popular: (n: number) => Promise<Popularities>;
}

export interface Popularities {
  /** `process`: there is no counter store, or it is away. */
  readonly source: 'fleet' | 'process';
  readonly queries: readonly QueryCount[];
}

export interface Watcher {
  readonly look: () => readonly DomainLook[];
}

/** One line of `GET /admin/live` per domain. */
export interface DomainLook {
  readonly domain: string;
  /** Of this process, since the look before; undefined at the first. */
  readonly figures?: Figures;
  readonly status: DomainStatus;
  readonly control: ControlSummary;
}
