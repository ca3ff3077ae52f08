import type { AuditDesk } from './audit-desk.ts';
import type { Operations } from './operations.ts';

/** What every group of operators' routes is given. */
export interface AdminContext {
  readonly operations: Operations;
  readonly desk: Pick<AuditDesk, 'changed'>;
}
