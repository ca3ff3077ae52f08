import { readFileSync } from 'node:fs';
import { createRandom } from '../../../../src/catalogue/demo/ad.ts';
import { driven, type LabDriven } from '../../kit/driven.ts';
import type { Lab } from '../../kit/lab.ts';
import { fillCommands, massImport, PUBLISHED_MIX } from '../../kit/mix.ts';
import { adapted } from './adapted.ts';
import type { Figures } from './figures.ts';
import { meetNeighbour } from './neighbour.ts';
import { runTrial } from './trial.ts';

/** Who asks, and how its wait ends. */
export type Variant = 'closes' | 'abandons' | 'adapter closes' | 'adapter';

export interface Scene {
  readonly isTls: boolean;
  readonly ratePerSecond: number;
  readonly connections: number;
  readonly variants: readonly Variant[];
}

export interface SceneRan {
  /** By variant, in the order they were measured. */
  readonly trials: ReadonlyMap<Variant, readonly Figures[]>;
  /** The same load without a slow spell. Abandoning shows that the store can do it; closing, what a hiccup makes of it. */
  readonly calm: { readonly closes: Figures; readonly abandons: Figures };
  readonly neighbourShare: number;
}

export const DEADLINE_MS = 50;
export const HOLDS = { ms: 100, everyMs: 500 } as const;
/**
 * Of its core, the neighbour's part included: well within what it can do. From 75 % on, a hiccup of the machine is enough
 * of a slow spell for connections that are closed.
 */
export const BUSY = 0.65;
const LEAST_SHARE = 0.1;
const ROUNDS = 2;
const OWN_SECONDS = 4;
const CALM_SECONDS = 2;
const SHIPPED_SOCKET_TIMEOUT_MS = 3000;

/** One store, filled, with its neighbour: every variant goes through a slow spell in turn, and all of them again. */
export async function playScene(lab: Lab, scene: Scene): Promise<SceneRan> {
  const { isTls, ratePerSecond, connections } = scene;
  const kind = isTls ? 'TLS' : 'plain';
  const store = await lab.startStore(isTls ? { tls: true } : {});
  await massImport(fillCommands(PUBLISHED_MIX, createRandom(1).next), {
    ...store,
    cores: lab.cores.generator,
    signal: lab.signal,
  });
  const ca = store.caFile === undefined ? undefined : readFileSync(store.caFile, 'utf8');
  const neighbour = await meetNeighbour(lab, store, ca);
  const plan = {
    connections,
    ratePerSecond,
    commands: { kind: 'mix', ...PUBLISHED_MIX },
    ...(ca !== undefined && { ca }),
  } as const;
  const alone = await driven(lab, [store], { ...plan, seconds: Math.min(1, lab.seconds(1)) });
  const share = Math.max(LEAST_SHARE, BUSY - alone.storeCores);

  const load = (variant: Variant, seconds: number): Promise<LabDriven> => {
    if (variant === 'closes' || variant === 'abandons')
      return driven(lab, [store], { ...plan, seconds, deadline: { ms: DEADLINE_MS, closes: variant === 'closes' } });
    const socketTimeoutMs = variant === 'adapter' ? SHIPPED_SOCKET_TIMEOUT_MS : DEADLINE_MS;
    const own = { connections, ratePerSecond, mix: PUBLISHED_MIX, deadlineMs: DEADLINE_MS, socketTimeoutMs };
    return adapted(lab, store, { ...own, seconds });
  };
  const trial = (variant: Variant, seconds: number, holds?: typeof HOLDS): Promise<Figures> =>
    runTrial({
      ...{ store, neighbour, share, seconds, connections, deadlineMs: DEADLINE_MS },
      load: () => load(variant, seconds),
      ...(holds !== undefined && { holds }),
    });

  const calmly = (variant: Variant): Promise<Figures> => {
    lab.say(`${kind}: ${variant}, no slow spell`);
    return trial(variant, lab.seconds(CALM_SECONDS));
  };
  const calm = { abandons: await calmly('abandons'), closes: await calmly('closes') };
  const trials = new Map<Variant, Figures[]>(scene.variants.map((variant) => [variant, []]));
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const variant of scene.variants) {
      lab.say(`${kind}: ${variant}, round ${round}`);
      trials.get(variant)?.push(await trial(variant, lab.seconds(OWN_SECONDS), HOLDS));
    }
  }
  await lab.clear();
  return { trials, calm, neighbourShare: share };
}
