import type { Finding } from './finding.ts';
import type { Lab } from './lab.ts';

/** One lesson that others published, and what checks it here. */
export interface Experiment {
  /** What it varies, in one line for the list. */
  readonly varies: string;
  /** Parts of loadtest/stack/install.ts that it needs. */
  readonly parts: readonly string[];
  /** Undefined: it can run here. Else one line that says what is missing: `needs root for network namespaces`. */
  readonly cannotRun?: () => Promise<string | undefined>;
  /** A couple of minutes at most. @throws when a row could not be measured for a reason that is not a finding. */
  readonly run: (lab: Lab) => Promise<Omit<Finding, 'name'>>;
}
