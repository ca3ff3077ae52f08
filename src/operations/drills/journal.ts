import { Compile } from 'typebox/compile';
import type { OverlayRange } from '../../control/document.ts';
import { OperationRefused } from '../../control/operation-error.ts';
import type { FlushPreview } from '../flush/flush.ts';
import type { Figures } from '../meter/figures.ts';
import { JOURNAL } from './journal-schema.ts';
import type { GuardFigure, Plan } from './plan.ts';
import type { Survival } from './resolve-request.ts';

/** Everything a drill did and saw, in the order it happened: the report is drawn from it and from nothing else. */
export interface Journal {
  /** `20261121-064348-goods-canary-x7`: sorts by time, safe as a file name. */
  readonly id: string;
  readonly plan: Plan;
  /** In the order in which they are drilled; one, unless the plan goes over domains. */
  readonly domains: readonly string[];
  readonly reason: string;
  readonly by: string;
  readonly owner: string;
  /** Wall time. */
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /** The dry run of the last stage, per domain, as shown before the start. */
  readonly previews: Readonly<Record<string, FlushPreview>>;
  /** About two a second; at most `MAX_SAMPLES`, then every second one is left out. */
  readonly samples: readonly Sample[];
  readonly marks: readonly Mark[];
  readonly state: DrillState;
  readonly verdict?: Verdict;
  /** Per domain that was drilled. */
  readonly learned: readonly Learned[];
  /** The drill this one goes on with. */
  readonly resumes?: string;
  /** The bucket where its stages begin: a resumed drill begins at the same. */
  readonly offset?: number;
}

export const MAX_SAMPLES = 4000;

export type DrillPhase = 'baseline' | 'stage' | 'hold' | 'recovery' | 'after';

export type DrillState =
  | { readonly kind: 'running'; readonly phase: DrillPhase; readonly domain: string; readonly stage: number }
  /** The cache is restored already; the last figures are being taken. `ended`: what they change nothing of. */
  | { readonly kind: 'ending'; readonly ended?: Pick<Verdict, 'kind' | 'detail'> }
  | { readonly kind: 'over' };

export const VERDICTS = ['passed', 'failed', 'not-measured', 'refused', 'aborted', 'lost'] as const;

/**
 * `passed`: every stage, no guard broken, recovered. `failed`: it ended by a guard, or did not recover, or the hypothesis
 * did not hold afterwards. `not-measured`: too little was seen for either. `refused`: the hypothesis failed before the first
 * stage; nothing was flushed. `aborted`: by an operator, the halt lever or SIGTERM. `lost`: the owner could not renew it, so
 * every process ended it by itself.
 */
export interface Verdict {
  readonly kind: (typeof VERDICTS)[number];
  /** One sentence for people. */
  readonly detail: string;
  /** Where a resumed drill begins: the stage that was not finished. Absent when there is nothing to go on with. */
  readonly resumable?: { readonly domain: string; readonly stage: number };
}

export interface Sample {
  /** Since the start. */
  readonly atMs: number;
  readonly domain: string;
  readonly phase: DrillPhase;
  readonly stage: number;
  /** Of the time since the sample before, about half a second. */
  readonly figures: Figures;
  /** Over the last two seconds or so: what guards look at. */
  readonly guards: readonly { readonly figure: GuardFigure; readonly value?: number; readonly broken: boolean }[];
}

export type Mark = { readonly atMs: number; readonly domain: string } & (
  | { readonly kind: 'phase'; readonly phase: DrillPhase }
  | {
      readonly kind: 'stage';
      readonly stage: number;
      /** Each with the generation below which its entries were flushed. */
      readonly ranges: readonly OverlayRange[];
      readonly title: string;
    }
  | {
      readonly kind: 'guard';
      readonly figure: GuardFigure;
      readonly value: number;
      readonly max: number;
      readonly then: string;
    }
  | { readonly kind: 'guard-holds'; readonly figure: GuardFigure }
  | { readonly kind: 'recovered'; readonly stage: number; readonly afterMs: number }
  | { readonly kind: 'restored'; readonly why: string }
);

export interface Learned {
  readonly domain: string;
  /** Before the first stage. */
  readonly baseline: Figures;
  /** After the cache was restored. */
  readonly after?: Figures;
  readonly stages: readonly StageLearned[];
  /** Absent in journals of versions that told single figures. */
  readonly survival?: Survival;
}

export interface StageLearned {
  readonly stage: number;
  readonly title: string;
  /** Of the cohort of this stage: before the drill, at its lowest, at the end of the stage. 0–1. */
  readonly before?: number;
  readonly lowest?: number;
  readonly end?: number;
  /** The control cohort at the same time. */
  readonly control?: number;
  /** Until the cohort was back within the plan's points of its own past; absent when it was not. */
  readonly refillMs?: number;
  readonly peakEngineCallsPerSecond: number;
}

/** Raw line ends are in no JSON text, so the samples are found without parsing them. */
const SAMPLES = ',"samples":[\n';
const MAX_REASON = 200;
const schema = Compile(JOURNAL);

export type ReadJournal =
  | { readonly kind: 'journal'; readonly journal: Journal }
  /** `why`: for people, of bounded length. */
  | { readonly kind: 'unreadable'; readonly why: string };

/** JSON with a sample per line, the samples last: the rest can be read without them. */
export function encodeJournal({ samples, ...head }: Journal): string {
  const lines = samples.map((sample) => JSON.stringify(sample)).join(',\n');
  return `${JSON.stringify(head).slice(0, -1)}${SAMPLES}${lines}\n]}\n`;
}

export function decodeJournal(text: string): ReadJournal {
  try {
    return readJournal(JSON.parse(text));
  } catch {
    return { kind: 'unreadable', why: 'it is no JSON' };
  }
}

/** The same without samples. */
export function decodeJournalHead(text: string): ReadJournal {
  const end = text.indexOf(SAMPLES);
  if (end < 0) return { kind: 'unreadable', why: 'it is no journal of a drill' };
  return decodeJournal(`${text.slice(0, end)},"samples":[]}`);
}

/** Whoever wrote it, every member is checked before anything is believed. Never throws. */
export function readJournal(value: unknown): ReadJournal {
  if (isJournal(value)) return { kind: 'journal', journal: value };
  const [first] = schema.Errors(value);
  if (first === undefined) return { kind: 'unreadable', why: 'it is no journal of a drill' };
  const where = first.instancePath === '' ? 'the journal' : first.instancePath;
  return { kind: 'unreadable', why: `${where} ${first.message}`.slice(0, MAX_REASON) };
}

function isJournal(value: unknown): value is Journal {
  return schema.Check(value);
}

/** Where a stopped drill is taken up again. */
export interface ResumePoint {
  readonly id: string;
  readonly stage: number;
  readonly offset: number | undefined;
  /** What it had flushed of its domain, each range with its floor; undefined: nothing yet. */
  readonly ranges: readonly OverlayRange[] | undefined;
  /** The last stage that began. */
  readonly flushedStage: number | undefined;
}

/** Also the domains still to be drilled. @throws OperationRefused drill-running, drill-over */
export function resumePoint(journal: Journal): { readonly point: ResumePoint; readonly domains: readonly string[] } {
  const { id, verdict, state, marks, domains, offset } = journal;
  if (state.kind !== 'over') throw new OperationRefused('drill-running', `Drill ${id} still runs.`);
  const resumable = verdict?.resumable;
  if (resumable === undefined) {
    throw new OperationRefused('drill-over', `Drill ${id} ended (${verdict?.kind}) with nothing left to go on with.`);
  }
  const { domain, stage } = resumable;
  const last = marks.flatMap((mark) => (mark.kind === 'stage' && mark.domain === domain ? [mark] : [])).at(-1);
  return {
    point: { id, stage, offset, ranges: last?.ranges, flushedStage: last?.stage },
    domains: domains.slice(Math.max(0, domains.indexOf(domain))),
  };
}
