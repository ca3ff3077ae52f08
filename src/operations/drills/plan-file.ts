import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LineCounter, parseDocument, stringify } from 'yaml';
import { describeFault, formatDuration, type Plan, type PlanFault } from './plan.ts';
import { type ReadPlan, readPlan } from './plan-validation.ts';

const MAX_CHARACTERS = 65_536;

/**
 * Reads a plan from YAML, with durations as `10s` and defaults for absent members.
 * @param nodes number of nodes in the store, when known: `node: each` becomes one stage per node.
 */
export function readPlanFile(text: string, nodes?: number): ReadPlan {
  if (text.length > MAX_CHARACTERS) return fileFault(`${text.length} characters`, `at most ${MAX_CHARACTERS}`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) return fileFault(`not YAML (${error.code})`, 'YAML', lines.linePos(error.pos[0]).line);
  let tree: unknown;
  try {
    // Bounds the size that nested aliases can expand to.
    tree = document.toJS({ maxAliasCount: 100 });
  } catch {
    return fileFault('aliases', 'aliases of known anchors, not nested deep');
  }
  const read = readPlan(tree, { form: 'file', ...(nodes === undefined ? {} : { nodes }) });
  if (read.kind === 'plan') return read;
  const lineOf = (path: PlanFault['path']): number | undefined => {
    // A missing member has no line; the mapping that lacks it has one.
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

/** The whole plan as a file: no member is left to its default. */
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

/** All faults of a plan, one per line. */
export function describeFaults(faults: readonly PlanFault[]): string {
  return faults.map(describeFault).join('\n');
}

function fileFault(value: string, allowed: string, line?: number): ReadPlan {
  return { kind: 'faults', faults: [{ path: [], value, allowed, ...(line === undefined ? {} : { line }) }] };
}

/** The ready-made plans, for a store with `nodes` nodes. */
export type ReadyPlans = (nodes: number) => readonly Plan[];

/** From the mildest rehearsal to the hardest. */
const ORDER = ['canary', '1-5-25-100', 'full-loss', 'node-by-node', 'domain-by-domain', 'engine-blackout'];

/** Reads the files once. @throws when a ready-made plan is invalid */
export function loadReadyPlans(directory = join(import.meta.dirname, 'plans')): ReadyPlans {
  const texts = readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => ({ name, text: readFileSync(join(directory, name), 'utf8') }));
  const rank = ({ name }: Plan): number => (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);
  return (nodes) =>
    texts
      .map(({ name, text }): Plan => {
        // Without a store the plan is shown for one node; starting it is refused with the reason.
        const read = readPlanFile(text, Math.max(1, nodes));
        if (read.kind === 'plan') return read.plan;
        throw new Error(`${name}: ${describeFaults(read.faults)}`);
      })
      .sort((a, b) => rank(a) - rank(b));
}
