import type { Control, ControlSummary } from '../control/control.ts';
import type { MostAsked } from '../popularity/shared.ts';
import type { DomainStatus } from '../search/status.ts';
import type { Doctor } from './doctor/create-doctor.ts';
import type { Drills } from './drills/create-drills.ts';
import type { DocumentFeed } from './feed/feed.ts';
import type { Flush } from './flush/create-flush.ts';
import type { QueryPages } from './flush/flush.ts';
import type { ChangesLook, Figures } from './meter/figures.ts';
import type { Shadows } from './shadow/create-shadows.ts';
import type { WarmUps } from './warm/warm-ups.ts';

/** Everything that operators do with the service. The admin API, the CLI and the console use this one interface. */
export interface Operations {
  /** Configured names, in order. */
  readonly domains: readonly string[];
  /** @throws OperationError unknown-domain, naming the known ones. */
  readonly domain: (name: string) => DomainOperations;
  readonly drills: Drills;
  readonly shadows: Shadows;
  readonly doctor: Doctor;
  readonly warm: WarmUps;
  /** A watcher shows the state now, and the figures of each domain since its previous look. */
  readonly watch: () => Watcher;
}

export interface DomainOperations {
  readonly control: Control;
  readonly feed: DocumentFeed;
  readonly flush: Flush;
  /** The pages of a query as a person types it. @throws InvalidSearch */
  readonly pagesOf: (typed: string) => QueryPages;
  readonly popular: (n: number) => Promise<MostAsked>;
}

export interface Watcher {
  readonly look: () => readonly DomainLook[];
}

/** One line of `GET /admin/live` per domain. */
export interface DomainLook {
  readonly domain: string;
  /** Figures of this process since the previous look; undefined at the first one. */
  readonly figures?: Figures;
  readonly status: DomainStatus;
  readonly control: ControlSummary;
  /** Absent: the domain has no feed of changes. */
  readonly changes?: ChangesLook | undefined;
}
