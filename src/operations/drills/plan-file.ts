import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LineCounter, parseDocument, stringify } from 'yaml';
import { describeFault, formatDuration, type Plan, type PlanFault } from './plan.ts';
import { type ReadPlan, readPlan } from './plan-validation.ts';

const MAX_CHARACTERS = 65_536;

/**
 * A plan as people write it: YAML, durations as `10s`, what is left out by default.
 * @param nodes how many nodes the store has, where that is known: `node: each` is written out to them.
 */
export function readPlanFile(text: string, nodes?: number): ReadPlan {
  if (text.length > MAX_CHARACTERS) return broken(`${text.length} characters`, `at most ${MAX_CHARACTERS}`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) return broken(`not YAML (${error.code})`, 'YAML', lines.linePos(error.pos[0]).line);
  let tree: unknown;
  try {
    // Bounds what nested aliases can grow to.
    tree = document.toJS({ maxAliasCount: 100 });
  } catch {
    return broken('aliases', 'aliases of known anchors, not nested deep');
  }
  const read = readPlan(tree, { form: 'file', ...(nodes === undefined ? {} : { nodes }) });
  if (read.kind === 'plan') return read;
  const lineOf = (path: PlanFault['path']): number | undefined => {
    // What is missing has no line; the mapping it is missing from has one.
    for (let length = path.length; length >= 0; length -= 1) {
      const node: unknown = document.getIn(path.slice(0, length), true);
      const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
      if (Array.isArray(range)) return lines.linePos(Number(range[0])).line;
    }
    return undefined;
  };
  return {
    kind: 'faults',
    faults: read.faults.map((fault) => {
      const line = lineOf(fault.path);
      return line === undefined ? fault : { ...fault, line };
    }),
  };
}

/** The same plan as a file, whole: nothing is left to defaults. */
export function writePlanFile(plan: Plan): string {
  const { baselineMs, afterMs, stages, guards, recovery, ...rest } = plan;
  return stringify({
    ...rest,
    baseline: formatDuration(baselineMs),
    after: formatDuration(afterMs),
    recovery: { withinPoints: recovery.withinPoints, timeout: formatDuration(recovery.timeoutMs) },
    stages: stages.map(({ holdMs, ...stage }) => ({ ...stage, hold: formatDuration(holdMs) })),
    guards: guards.map(({ forMs, max, follows, ...guard }) => {
      return { ...guard, max: follows ?? max, for: formatDuration(forMs) };
    }),
  });
}

/** All faults of a plan, one a line. */
export function describeFaults(faults: readonly PlanFault[]): string {
  return faults.map(describeFault).join('\n');
}

function broken(value: string, allowed: string, line?: number): ReadPlan {
  return { kind: 'faults', faults: [{ path: [], value, allowed, ...(line === undefined ? {} : { line }) }] };
}

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
