import type { FastifyRequest } from 'fastify';
import type { AuditEntry } from '../../operations/audit/audit.ts';
import type { Operations } from '../../operations/operations.ts';

/** A change as the route that made it reports it. */
export type ChangeNote = Pick<AuditEntry, 'domain' | 'before' | 'after'>;

/** The common options of all groups of operators' routes. */
export interface AdminContext {
  readonly operations: Operations;
  /** Adds the change to the audit line of the request. */
  readonly audit: { readonly changed: (request: FastifyRequest, note: ChangeNote) => void };
}
