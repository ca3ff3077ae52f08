import type { FastifyRequest } from 'fastify';
import type { Control, ControlSummary } from '../../control/control.ts';
import type { AuditEntry } from '../../operations/audit/audit.ts';
import type { Drills } from '../../operations/drills/drills.ts';
import type { Flush, QueryPages } from '../../operations/flush/flush.ts';
import type { Figures } from '../../operations/meter/figures.ts';
import type { WarmUps } from '../../operations/warm/warm.ts';
import type { QueryCount } from '../../popularity/shared.ts';
import type { DomainStatus } from '../../search/status.ts';

/** Everything that operators may do and see beyond `Search`. The API, the CLI and the console all use it. */
export interface Operations {
  /** Configured names, in order. */
  readonly domains: readonly string[];
  /** @throws OperationRefused unknown-domain, naming the known ones. */
  readonly domain: (name: string) => DomainOperations;
  readonly drills: Drills;
  readonly warm: WarmUps;
  /** A new watcher of the domains of this process. */
  readonly watch: () => Watcher;
}

export interface DomainOperations {
  readonly control: Control;
  readonly flush: Flush;
  /** The pages of a typed query. @throws InvalidSearch */
  readonly pagesOf: (typed: string) => QueryPages;
  readonly popular: (n: number) => Promise<Popularities>;
}

export interface Popularities {
  /** `process`: there is no counter store, or it is unavailable. */
  readonly source: 'fleet' | 'process';
  readonly queries: readonly QueryCount[];
}

export interface Watcher {
  /** The present state of each domain, and its figures since the previous call of this watcher. */
  readonly look: () => readonly DomainLook[];
}

/** One domain in a line of `GET /admin/live`. */
export interface DomainLook {
  readonly domain: string;
  /** Figures of this process since the previous call; undefined at the first call. */
  readonly figures?: Figures;
  readonly status: DomainStatus;
  readonly control: ControlSummary;
}

/** A change as the route that made it reports it. */
export type ChangeNote = Pick<AuditEntry, 'domain' | 'before' | 'after'>;

/** The common options of all groups of operators' routes. */
export interface AdminContext {
  readonly operations: Operations;
  /** Adds the change to the audit line of the request. */
  readonly audit: { readonly changed: (request: FastifyRequest, note: ChangeNote) => void };
}
