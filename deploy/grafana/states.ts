import type { States } from './panel.ts';

/** Texts and colours that several dashboards share. */

export const PART_STATES: States = {
  0: { text: 'ok', color: 'green' },
  1: { text: 'degraded', color: 'yellow' },
  2: { text: 'down', color: 'red' },
};

export const ADMISSION_STATES: States = {
  0: { text: 'ok', color: 'green' },
  1: { text: 'near its limits', color: 'yellow' },
  2: { text: 'shedding', color: 'red' },
};

export const BREAKER_STATES: States = {
  0: { text: 'closed', color: 'green' },
  1: { text: 'half-open', color: 'yellow' },
  2: { text: 'open', color: 'red' },
};

/** 1 is the good value. */
export const REACHED: States = { 0: { text: 'away', color: 'red' }, 1: { text: 'reached', color: 'green' } };

/** 1 is the bad value. */
export const ALARM: States = { 0: { text: 'no', color: 'green' }, 1: { text: 'yes', color: 'red' } };

/** Neither value is good or bad. */
export const ACTIVE: States = { 0: { text: 'no', color: 'gray' }, 1: { text: 'yes', color: 'purple' } };

export const OUTCOME_COLORS: Readonly<Record<string, string>> = {
  'hit-l1': 'dark-green',
  'hit-l2': 'green',
  stale: 'yellow',
  collapsed: 'light-blue',
  engine: 'blue',
  lifeboat: 'purple',
  shed: 'orange',
  failed: 'red',
  rejected: 'gray',
  aborted: 'lightgray',
};
