import { join } from 'node:path';
import { drivenBy, type LabDriven } from '../../kit/driven.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import type { AdapterPlan } from './adapter-plan.ts';

const MAIN = join(import.meta.dirname, 'adapter-load.ts');
/** Hundreds of adapters shake hands on a store that is busy already. */
const AROUND_SECONDS = 20;

/** As `driven`, by serpcache's own adapter: a process of its own on the generator's cores. */
export function adapted(
  lab: Lab,
  store: LabStore,
  plan: Omit<AdapterPlan, 'target' | 'watched' | 'seed'>,
): Promise<LabDriven> {
  const whole: AdapterPlan = {
    ...plan,
    target: { host: store.host, port: store.port },
    seed: 1,
    watched: [store.pid()],
  };
  return drivenBy(lab, { main: MAIN, plan: whole, limitMs: (plan.seconds + AROUND_SECONDS) * 1000 });
}
