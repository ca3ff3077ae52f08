import type { Experiment } from '../kit/lab.ts';
import { batch } from './batch.ts';
import { connections } from './connections.ts';
import { dns } from './dns.ts';
import { domains } from './domains.ts';
import { engines } from './engines.ts';
import { limiter } from './limiter.ts';
import { persistence } from './persistence.ts';
import { reconnect } from './reconnect.ts';
import { shards } from './shards.ts';
import { timeouts } from './timeouts.ts';
import { valueSize } from './value-size.ts';

/** In the order in which a reader meets the lessons: what clients do, what they ask for, how stores are set up. */
export const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  timeouts,
  connections,
  reconnect,
  'value-size': valueSize,
  batch,
  domains,
  persistence,
  engines,
  limiter,
  dns,
  shards,
};
