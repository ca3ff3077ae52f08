/** What is to be known of a script before it runs. The scripts themselves are in loadtest/k6. */
export interface ScriptEntry {
  readonly purpose: string;
  /** x1: searches a second, or an eighth of what saturates one process, found just before the run. */
  readonly base: 'measured' | number;
  /** Acts as an operator: needs an admin address and ADMIN_TOKEN. */
  readonly operates?: true;
  /** Processes of serpcache in the local stack; absent: one. */
  readonly replicas?: number;
  /** Of the local stack's file, unless somebody set them. */
  readonly stackEnv: Readonly<Record<string, string>>;
}

/** An L1 that holds the head alone, so that L2 has its part: 5,000 searches with their pages are 30 MiB. */
const SMALL = { LOCAL_MEMORY: '12MiB' };
/** What was warmed at once lapses at once: within a run that must not be taken for what the load has done. */
const STEADY = { ...SMALL, LOCAL_TTL: '30m' };

export const SCRIPTS: Readonly<Record<string, ScriptEntry>> = {
  smoke: { purpose: 'a few searches a second, every answer looked at', base: 20, stackEnv: {} },
  'x-load': {
    purpose: 'x1 to x5 of the base rate: the last multiplier that holds',
    base: 'measured',
    stackEnv: STEADY,
  },
  overload: {
    purpose: 'past saturation: where it gives, and whether it refuses honestly there',
    base: 'measured',
    stackEnv: STEADY,
  },
  'flush-survival': {
    purpose: 'a staged flush of one domain: does the engine survive, and when is the cache back',
    base: 'measured',
    operates: true,
    stackEnv: STEADY,
  },
  'full-loss': {
    purpose: 'everything of one domain flushed at once under steady load',
    base: 'measured',
    operates: true,
    stackEnv: STEADY,
  },
  spike: { purpose: 'x1, then x5 at once, then x1 again: what is left behind', base: 'measured', stackEnv: STEADY },
  soak: { purpose: 'x2 for a long time: does latency or memory drift', base: 'measured', stackEnv: SMALL },
  reconnect: {
    purpose: 'connections closed after every 70th, 5th and every request',
    base: 'measured',
    stackEnv: STEADY,
  },
  batch: { purpose: 'the same searches a second in batches of 1 to 50', base: 'measured', stackEnv: STEADY },
  'cold-start': {
    purpose: 'everything flushed for good, then x1 at once: how long until it is warm',
    base: 'measured',
    operates: true,
    stackEnv: STEADY,
  },
};
