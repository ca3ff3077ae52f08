import { createClient } from '../../../loadtest/http-driver/client.ts';
import { createRandom } from '../../../loadtest/random.ts';
import { createZipf } from '../../../loadtest/traffic/zipf.ts';
import { HUNG_MS } from '../configuration.ts';
import { searchPath } from '../harness.ts';
import { createRecovery, type Recovery } from '../recovery.ts';
import { createReference, isHit, type Reference, verdictOf } from '../verdict.ts';
import type { LimitedFleet } from './fleets.ts';
import { isPage, type OpenLoop, type SentSearch, startOpenLoop } from './open-loop.ts';

/** Sends one stream to a fleet and to its control and compares their hit ratios. */
interface Comparison {
  readonly loop: OpenLoop;
  /** False: only the control gets requests. */
  readonly includeFleet: (on: boolean) => void;
  /** Starts the recovery time. `held`: the fresh entries that each process still has. */
  readonly begin: (held: readonly ReadonlySet<string>[]) => void;
  /** From `begin` until the hit ratio is within 2 points of the control's over a window of arrivals. */
  readonly recoveredMs: () => number | undefined;
  /**
   * The same for an ideal cache that starts with `held` and computes each miss instantly. No cache that fills on demand
   * is faster.
   */
  readonly idealMs: () => number | undefined;
  /** The control's hit ratio minus the fleet's in the last window; undefined before the first full window. */
  readonly hitGap: () => number | undefined;
  readonly between: (
    fromMs: number,
    toMs: number,
  ) => { readonly fleet: readonly SentSearch[]; readonly control: readonly SentSearch[] };
  /** Searches whose page differs from the page of the control's engine. */
  readonly wrong: () => Promise<readonly string[]>;
}

const WINDOW = 300;
const POINTS = 0.02;

export function compareWithControl(
  { services, control, queries }: LimitedFleet,
  { ratePerSecond, among = queries.repeated.length }: { readonly ratePerSecond: number; readonly among?: number },
): Comparison {
  const { next: random } = createRandom(1);
  const rank = createZipf({ size: among, exponent: 1 });
  const controlAt = services.length;
  const recovery = createRecovery({ window: WINDOW, points: POINTS });
  const ideal = createIdeal();
  const reference = createReference();
  const sentMs: number[] = [];
  let isFleetIncluded = true;
  let beganMs = 0;

  const loop = startOpenLoop({
    urls: [...services.map(({ url }) => url), control.url],
    ratePerSecond,
    random,
    next: (arrival) => {
      sentMs[arrival] = loop.sinceStartMs();
      const one = Math.floor(random() * services.length);
      return { text: queries.repeated[rank(random)] ?? '', to: isFleetIncluded ? [one, controlAt] : [controlAt] };
    },
    onAnswer: (asked) => {
      const isControl = asked.to === controlAt;
      recovery.add(isControl ? 'control' : 'subject', asked.arrival, { hit: isHit(asked), answered: isPage(asked) });
      if (!isControl) return;
      ideal.add(asked);
      reference.learn(asked.text, asked.verdict);
    },
  });
  const sinceBegan = ({ recoveredAt }: Pick<Recovery, 'recoveredAt'>): number | undefined => {
    const arrival = recoveredAt();
    return arrival === undefined ? undefined : (sentMs[arrival] ?? beganMs) - beganMs;
  };
  const fleet = (): readonly SentSearch[] => loop.asked.filter(({ to }) => to !== controlAt);
  return {
    loop,
    includeFleet: (on) => {
      isFleetIncluded = on;
    },
    begin: (held) => {
      beganMs = loop.sinceStartMs();
      recovery.begin(loop.arrivals());
      ideal.begin(loop.arrivals(), held);
    },
    recoveredMs: () => sinceBegan(recovery),
    idealMs: () => sinceBegan(ideal),
    hitGap: recovery.hitGap,
    between: (fromMs, toMs) => {
      const asked = loop.asked.filter((one) => one.sentMs >= fromMs && one.sentMs < toMs);
      return {
        fleet: asked.filter(({ to }) => to !== controlAt),
        control: asked.filter(({ to }) => to === controlAt),
      };
    },
    wrong: () => wrongOf(fleet(), reference, control.url),
  };
}

/** The ideal cache: `add` receives the arrivals in the order of the control's answers. */
function createIdeal() {
  const recovery = createRecovery({ window: WINDOW, points: POINTS });
  let computed = new Set<string>();
  return {
    recoveredAt: recovery.recoveredAt,
    begin: (arrival: number, held: readonly ReadonlySet<string>[]): void => {
      recovery.begin(arrival);
      computed = new Set(held.flatMap((texts) => [...texts]));
    },
    add: (asked: SentSearch): void => {
      recovery.add('control', asked.arrival, { hit: isHit(asked), answered: true });
      recovery.add('subject', asked.arrival, { hit: computed.has(asked.text), answered: true });
      computed.add(asked.text);
    },
  };
}

/** Asks the control again for every page that it did not have when the fleet had it. */
async function wrongOf(asked: readonly SentSearch[], reference: Reference, url: string): Promise<readonly string[]> {
  const client = createClient({ baseUrl: url, patienceMs: HUNG_MS, maxConnections: 1 });
  const unknown = new Set(
    asked
      .filter(isPage)
      .map(({ text }) => text)
      .filter((text) => !reference.knows(text)),
  );
  for (const text of unknown) reference.learn(text, verdictOf(await client.get(searchPath(text)), text));
  client.close();
  return asked
    .filter(({ text, verdict }) => verdict.kind === 'page' && reference.agrees(text, verdict) !== true)
    .map(({ text }) => text);
}
