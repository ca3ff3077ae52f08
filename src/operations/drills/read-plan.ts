import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { LineCounter, parseDocument, stringify } from 'yaml';
import { BUCKETS } from '../../cache/invalidation.ts';
import { widthOfFraction } from './cohorts.ts';
import { DEFAULT_PATIENCE_MS, limitOfPatience } from './guards.ts';
import {
  describeFault,
  formatDuration,
  type GuardFigure,
  type Plan,
  type PlanFault,
  parseDuration,
  type Stage,
  showValue,
} from './plan.ts';
import { PLAN_TABLE, type PlanNode, STAGE_TABLES } from './plan-table.ts';

export interface PlanForm {
  /** `file`: durations are texts (`hold: 10s`), as people write them. `object`: numbers (`holdMs: 10000`). */
  readonly form: 'file' | 'object';
  /** How many nodes the store has: what `node: each` is written out to. Absent: it is refused. */
  readonly nodes?: number;
}

export type ReadPlan =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'faults'; readonly faults: readonly PlanFault[] };

type Path = PlanFault['path'];
type Mapping = Readonly<Record<string, unknown>>;

/** Every fault of a plan at once, or the plan with its defaults. */
export function readPlan(given: unknown, { form, nodes }: PlanForm): ReadPlan {
  const faults: PlanFault[] = [];
  const fault = (path: Path, value: unknown, allowed: string): undefined => {
    faults.push({ path, value: showValue(value), allowed });
    return undefined;
  };

  const readLeaf = (node: PlanNode, value: unknown, path: Path): unknown => {
    const isText = form === 'file' && node['x-duration'] === true;
    const read = isText && typeof value === 'string' ? parseDuration(value) : value;
    // The table is JSON Schema whatever its static type.
    if (Check(node as unknown as TSchema, read) && !(isText && typeof value !== 'string')) return read;
    const unit = node['x-duration'] !== true ? '' : isText ? 'a duration such as 10s, ' : 'milliseconds, ';
    return fault(path, value, `${unit}${node.description}`);
  };

  const read = (node: PlanNode, value: unknown, path: Path): unknown => {
    if (node.properties !== undefined) {
      const known = Object.keys(node.properties).map((name) => nameIn(form, name, node.properties?.[name]));
      if (!isMapping(value)) return fault(path, value, `a mapping of ${known.join(', ')}`);
      return readMapping(node, node.properties, value, path);
    }
    if (node.type !== 'array' || node.items === undefined) return readLeaf(node, value, path);
    const { items, minItems = 0, maxItems = 0 } = node;
    if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) {
      return fault(path, value, node.description ?? 'a list');
    }
    const readGuard = (item: unknown, at: Path): unknown => read(items, inNumbers(item), at);
    const readItem = items.properties === undefined ? readStage : readGuard;
    return value.map((item, place) => readItem(item, [...path, place]));
  };

  const readMapping = (
    node: PlanNode,
    properties: Readonly<Record<string, PlanNode>>,
    value: Mapping,
    path: Path,
  ): Mapping => {
    const known = new Map(Object.entries(properties).map(([name, member]) => [nameIn(form, name, member), name]));
    for (const name of Object.keys(value)) {
      if (!known.has(name))
        fault([...path, name], value[name], `no such setting; known: ${[...known.keys()].join(', ')}`);
    }
    const members = [...known].flatMap(([given, name]): [string, unknown][] => {
      const member = properties[name] ?? {};
      const own = Object.hasOwn(value, given) ? (value[given] ?? undefined) : undefined;
      // A default is in the words of the object form already.
      if (own === undefined && member.default !== undefined) return [[name, withDefaults(member)]];
      if (own === undefined && !(node.required ?? []).includes(name)) return [];
      return [[name, read(member, own, [...path, given])]];
    });
    return Object.fromEntries(members);
  };

  const readStage = (value: unknown, path: Path): unknown => {
    if (!isMapping(value)) return fault(path, value, 'a mapping: fraction, node or kind: blackout, each with its hold');
    const kind = value['kind'] ?? ['fraction', 'node'].find((each) => Object.hasOwn(value, each));
    const table = typeof kind === 'string' && Object.hasOwn(STAGE_TABLES, kind) ? STAGE_TABLES[kind] : undefined;
    if (table === undefined) return fault([...path, 'kind'], kind, 'one of fraction, node, blackout');
    return read(table, { ...value, kind }, path);
  };

  const plan = read(PLAN_TABLE, given, []);
  if (faults.length > 0 || !isMapping(plan)) return { kind: 'faults', faults };
  // What the table let through has the shape of a plan, but for the nodes that are still to be written out.
  const whole = { title: plan['name'], ...plan } as unknown as Omit<Plan, 'stages'> & { stages: readonly DraftStage[] };
  const { stages, ...rest } = whole;
  const written: Plan = { ...rest, stages: stages.flatMap((stage) => writtenOut(stage, nodes ?? 0)) };
  const wrong = [...stages.flatMap((stage, place) => unwritable(stage, place, nodes)), ...contradictions(written)];
  return wrong.length > 0 ? { kind: 'faults', faults: wrong } : { kind: 'plan', plan: written };
}

/** `max: patience` is a number from here on; which one is told where the plan meets its domains. */
function inNumbers(guard: unknown): unknown {
  if (!isMapping(guard) || guard['max'] !== 'patience') return guard;
  return { ...guard, max: limitOfPatience(DEFAULT_PATIENCE_MS), follows: 'patience' };
}

type DraftStage =
  | Exclude<Stage, { kind: 'node' }>
  | (Omit<Extract<Stage, { kind: 'node' }>, 'node'> & { node: number | 'each' });

/** Of a store with more nodes than a plan may have stages, the first ones. */
function writtenOut(stage: DraftStage, nodes: number): readonly Stage[] {
  if (stage.kind !== 'node') return [stage];
  const { node, ...rest } = stage;
  if (node !== 'each') return [{ ...rest, node }];
  return Array.from({ length: Math.min(nodes, 16) }, (_, place) => ({ ...rest, node: place }));
}

function unwritable(stage: DraftStage, place: number, nodes: number | undefined): readonly PlanFault[] {
  if (stage.kind !== 'node' || stage.node !== 'each' || (nodes !== undefined && nodes > 0)) return [];
  return [{ path: ['stages', place, 'node'], value: '"each"', allowed: 'the place of a node, counted from 0' }];
}

function nameIn(form: PlanForm['form'], name: string, node: PlanNode | undefined): string {
  return form === 'file' && node?.['x-duration'] === true ? name.replace(/Ms$/, '') : name;
}

function withDefaults(node: PlanNode): unknown {
  if (node.properties === undefined) return node.default;
  return Object.fromEntries(Object.entries(node.properties).map(([name, member]) => [name, member.default]));
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What each figure can be at most; a guard beyond it would never break. */
const MOST: Readonly<Partial<Record<GuardFigure, number>>> = {
  errorRate: 1,
  shedRate: 1,
  engineInFlightShare: 1,
  hitRatioDrop: 100,
};

/** Faults of a plan whose members are right one by one. */
export function contradictions(plan: Plan): readonly PlanFault[] {
  return [...ofStages(plan), ...ofErasing(plan), ...ofGuards(plan)];
}

function ofStages({ stages, holdout }: Plan): readonly PlanFault[] {
  const faults: PlanFault[] = [];
  let reached = 0;
  let node = -1;
  for (const [place, stage] of stages.entries()) {
    const fault = (member: string, value: number, allowed: string): void => {
      faults.push({ path: ['stages', place, member], value: String(value), allowed });
    };
    if (stage.kind === 'fraction') {
      const { fraction } = stage;
      const reach = widthOfFraction(fraction, holdout) / BUCKETS;
      if (reach <= reached) fault('fraction', fraction, `more than the ${reached} that the stage before reaches`);
      if (node >= 0) fault('fraction', fraction, 'fractions or nodes in one plan, not both');
      reached = Math.max(reached, reach);
    }
    if (stage.kind === 'node') {
      if (stage.node <= node) fault('node', stage.node, `a later place than the ${node} of the stage before`);
      if (reached > 0) fault('node', stage.node, 'fractions or nodes in one plan, not both');
      node = Math.max(node, stage.node);
    }
  }
  return faults;
}

/** A whole node can be emptied; a part of it cannot, other than key by key. */
function ofErasing({ mode, eraseBy, stages }: Plan): readonly PlanFault[] {
  if (mode !== 'erase' || eraseBy !== 'flushall') return [];
  return stages.flatMap((stage, place) =>
    stage.kind === 'fraction' && stage.fraction < 1
      ? [
          {
            path: ['stages', place, 'fraction'],
            value: String(stage.fraction),
            allowed: '1, as FLUSHALL empties whole nodes',
          },
        ]
      : [],
  );
}

function ofGuards({ guards }: Plan): readonly PlanFault[] {
  return guards.flatMap(({ figure, max, follows }, place) => {
    if (follows !== undefined && figure !== 'p99Ms') {
      return [{ path: ['guards', place, 'max'], value: follows, allowed: `a number, for ${figure}` }];
    }
    const most = MOST[figure] ?? Number.POSITIVE_INFINITY;
    // The baseline itself has the factor 1.
    const least = figure === 'engineRateFactor' ? 1 : 0;
    if (max <= most && max >= least) return [];
    const allowed = max > most ? `at most ${most}, for ${figure}` : `at least ${least}, for ${figure}`;
    return [{ path: ['guards', place, 'max'], value: String(max), allowed }];
  });
}

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
