import type { RunOptions } from './arguments.ts';
import { type NumberName, RANGES } from './options.ts';

export interface EnvironmentOptions {
  readonly id: string;
  readonly baseUrls: readonly string[];
  readonly adminUrls: readonly string[];
  readonly adminToken?: string;
  readonly baseRps: number;
  /** Absolute: k6 looks beside the script. */
  readonly queries: string;
  readonly numbers: RunOptions['numbers'];
}

/** What a script is told. The rest is its own to decide, so nothing is said of what nobody wished. */
export function k6Environment(wanted: EnvironmentOptions): Readonly<Record<string, string>> {
  const { id, baseUrls, adminUrls, adminToken, baseRps, queries, numbers } = wanted;
  const wishes = Object.entries({ ...numbers, 'base-rps': baseRps }) as [NumberName, number][];
  return {
    RUN_ID: id,
    BASE_URL: baseUrls.join(','),
    ADMIN_URL: adminUrls.join(','),
    // In the environment alone: it is nobody's business who lists processes.
    ...(adminToken === undefined ? {} : { ADMIN_TOKEN: adminToken }),
    QUERIES: queries,
    ...Object.fromEntries(wishes.map(([name, value]) => [RANGES[name].variable, String(value)])),
  };
}

/** Of this process's own: what k6 takes for its options would change the run and nobody would know. */
export function surroundings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('K6_')));
}
