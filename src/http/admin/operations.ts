import type { Caller } from '../../operations/drills/drills.ts';
import type { Operations } from '../../operations/operations.ts';
import type { AuditDesk } from './audit.ts';

export type { Caller };

/** What every group of operators' routes is given. */
export interface AdminContext {
  readonly operations: Operations;
  readonly desk: Pick<AuditDesk, 'changed'>;
}
