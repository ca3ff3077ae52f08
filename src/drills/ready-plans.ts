import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from './plan.ts';
import { describeFaults, readPlanFile } from './plan-file.ts';

/** The plans that come with the service, for a store of so many nodes. */
export type ReadyPlans = (nodes: number) => readonly Plan[];

/** In the order in which one would rehearse. */
const ORDER = ['canary', '1-5-25-100', 'full-loss', 'node-by-node', 'domain-by-domain', 'engine-blackout'];

/** Reads them once. */
export function loadReadyPlans(directory = join(import.meta.dirname, 'plans')): ReadyPlans {
  const texts = readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => ({ name, text: readFileSync(join(directory, name), 'utf8') }));
  const rank = ({ name }: Plan): number => (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);
  return (nodes) =>
    texts
      .map(({ name, text }): Plan => {
        // Without a store there is one to be shown; whoever starts it is told.
        const read = readPlanFile(text, Math.max(1, nodes));
        if (read.kind === 'plan') return read.plan;
        throw new Error(`${name}: ${describeFaults(read.faults)}`);
      })
      .sort((a, b) => rank(a) - rank(b));
}
