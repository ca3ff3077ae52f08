import { type Benchmark, benchmark } from '../../kit/benchmark.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { alternately, wholeRounds } from '../../kit/rounds.ts';
import { PAGE, PAGES } from './pages.ts';

/** How several keys are asked for at once. */
export type WayName = 'pipelined GET' | 'MGET' | 'Lua';

export interface WayRow extends Benchmark {
  readonly way: WayName;
  /** Keys at once. */
  readonly keys: number;
  readonly keysPerSecond: number;
  /** Processor time of the store for one key. */
  readonly storeUsPerKey: number;
}

export const WAYS: readonly WayName[] = ['pipelined GET', 'MGET', 'Lua'];
export const KEY_COUNTS: readonly number[] = [10, 100];
const CLIENTS = 10;
const PILOT_KEYS = 10_000;
const SCRIPT = 'local pages = {} for at, key in ipairs(KEYS) do pages[at] = redis.call("GET", key) end return pages';

/** The same keys by a pipeline of GET, by one MGET and by a script, in turn; each twice, half of a row's time each. */
export async function waysToAsk(lab: Lab, store: LabStore, seconds: number): Promise<readonly WayRow[]> {
  const variants = KEY_COUNTS.flatMap((keys) => WAYS.map((way) => ({ way, keys })));
  const all = await alternately<(typeof variants)[number], WayRow>(
    variants,
    2,
    async ({ way, keys }, before) => {
      lab.say(`${keys} keys by ${way}`);
      const pipeline = way === 'pipelined GET' ? keys : 1;
      const load = {
        store,
        clients: CLIENTS,
        ...(pipeline > 1 && { pipeline }),
        keySpace: PAGES,
        command: wordsOf(way, keys),
        seconds: seconds / 2,
      };
      const { perSecond } = before[0] ?? (await benchmark(lab, { ...load, requests: (PILOT_KEYS / keys) * pipeline }));
      const requests = wholeRounds({ clients: CLIENTS, pipeline, perSecond, seconds: seconds / 2 });
      const ran = await benchmark(lab, { ...load, requests });
      const keysPerSecond = ran.perSecond * (way === 'pipelined GET' ? 1 : keys);
      return {
        ...ran,
        way,
        keys,
        keysPerSecond,
        storeUsPerKey: (ran.storeCores * 1e6) / keysPerSecond,
        command: shortened(ran.command, keys),
      };
    },
    // Of two runs the lower is the median: the higher rate is what the machine can do.
    ({ keysPerSecond }) => -keysPerSecond,
  );
  return all.map(({ run }) => run);
}

function wordsOf(way: WayName, keys: number): readonly string[] {
  const names = Array.from({ length: keys }, () => PAGE);
  if (way === 'pipelined GET') return ['GET', PAGE];
  return way === 'MGET' ? ['MGET', ...names] : ['EVAL', SCRIPT, String(keys), ...names];
}

/** A hundred names as a shell writes them. */
export function shortened(command: string, keys: number): string {
  const names = ` ${PAGE}`.repeat(keys);
  return keys > 1 && command.endsWith(names)
    ? `${command.slice(0, -names.length)} $(yes ${PAGE} | head -${keys})`
    : command;
}
