import { openEngineProbes } from '../engines/engine-probes.ts';
import { type Acknowledgements, acknowledge } from '../operations/doctor/acknowledge.ts';
import type { Check } from '../operations/doctor/check.ts';
import { createHostReader } from '../operations/doctor/collect/host.ts';
import { acknowledgementsIn, createExaminer } from '../operations/doctor/create-doctor.ts';
import type { Examination } from '../operations/doctor/doctor.ts';
import { known, type Snapshot } from '../operations/doctor/facts.ts';
import { bySeverity, createJudge, diagnose } from '../operations/doctor/judge.ts';
import type { Finding, Report } from '../operations/doctor/report.ts';
import { utcText } from '../report/format.ts';
import { MINUTE } from '../schema/units.ts';
import { openStoreProbes } from '../stores/store-probes.ts';
import { type AdminClient, AdminUnreachable } from './admin-client.ts';
import type { CommandContext } from './command.ts';
import { type HostPart, mergeParts } from './doctor-part.ts';

/** The request of the operator for one or more examinations. */
export interface LookRequest {
  /** The checks of `--only`; every check without it. */
  readonly checks: readonly Check[];
  readonly isNarrowed: boolean;
  readonly parts: readonly HostPart[];
  /** Absent: a second with stores, else less. */
  readonly windowMs?: number;
  /** The file of `--acknowledged`. */
  readonly acknowledged?: string;
  /** The snapshots are needed in any case, for a bundle. */
  readonly needsSnapshots: boolean;
}

/** One examination. */
export interface Look {
  readonly report: Report;
  /** Parts of other hosts included. Absent when nothing needed them. */
  readonly snapshots?: readonly Snapshot[];
  /** Findings that the report accepts, as entries of a file. */
  readonly acknowledgements: Acknowledgements;
  /** False: neither a store nor an engine answered, so the report says little. */
  readonly answered: boolean;
}

export interface Looker {
  readonly look: () => Promise<Look>;
  readonly close: () => Promise<void>;
}

/** Three windows of 15 s and slow stores still end within it. */
const DEADLINE_MS = 120_000;

/** Looks by the running service. */
export function serviceLooker(
  client: Pick<AdminClient, 'get'>,
  asked: LookRequest,
  { clock }: Pick<CommandContext, 'clock'>,
): Looker {
  const { checks, isNarrowed, parts, windowMs, needsSnapshots } = asked;
  const judge = createJudge(checks);
  const facts = isNarrowed || parts.length > 0 || needsSnapshots;
  const query = Object.entries({ window: windowMs, facts: facts ? 'true' : undefined });
  return {
    look: async () => {
      const { report, snapshots } = await client.get<
        Partial<Pick<Examination, 'snapshots'>> & Pick<Examination, 'report'>
      >('/admin/doctor/examination', { query, deadlineMs: DEADLINE_MS });
      const own = acknowledgementsIn(asked.acknowledged, clock.wallMs());
      const merged = snapshots && mergeParts(snapshots, parts);
      const judged =
        merged === undefined ? report : joined(report, diagnose(merged, { tookMs: report.tookMs, judge }), checks);
      return {
        report: accepting(judged, own, parts),
        snapshots: merged,
        acknowledgements: acceptedIn(report, own),
        answered: true,
      };
    },
    close: async () => {},
  };
}

/**
 * The service's report for these checks, with the findings that the parts of other hosts add. Its own findings keep its
 * words: the snapshots that it sends lack names of keys.
 */
function joined(report: Report, judged: Report, checks: readonly Check[]): Report {
  const names = new Set(checks.map(({ id }) => id));
  const isAsked = ({ check }: Pick<Finding, 'check'>): boolean => names.has(check);
  const told = [...report.findings, ...report.acknowledged];
  const more = judged.findings.filter(
    ({ check, subject }) => !told.some((one) => one.check === check && one.subject === subject),
  );
  const findings = bySeverity([...report.findings.filter(isAsked), ...more]);
  const acknowledged = report.acknowledged.filter(isAsked);
  const standing = new Set([...findings, ...acknowledged].map(({ check }) => check));
  return {
    ...report,
    findings,
    acknowledged,
    skipped: judged.skipped,
    looked: judged.looked,
    checked: judged.checked,
    fine: Math.max(0, judged.checked - standing.size),
  };
}

/** The report with further acknowledgements, and with remarks about parts that are old. */
function accepting(report: Report, own: Acknowledgements, parts: readonly HostPart[]): Report {
  const { findings, acknowledged } = acknowledge(report.findings, own);
  return {
    ...report,
    findings,
    acknowledged: [...report.acknowledged, ...acknowledged],
    remarks: [...report.remarks, ...own.faults, ...ageRemarks(parts, report.atMs)],
  };
}

/** A part of another time says nothing about now. */
const MAX_PART_AGE_MS = 10 * MINUTE;

function ageRemarks(parts: readonly HostPart[], nowMs: number): readonly string[] {
  return parts.flatMap(({ snapshots: [first] }) => {
    const ageMs = first === undefined ? 0 : nowMs - first.wallMs;
    if (first === undefined || Math.abs(ageMs) <= MAX_PART_AGE_MS) return [];
    return [`the part of ${first.name} was made at ${utcText(first.wallMs)}: its findings are of that time`];
  });
}

function acceptedIn({ acknowledged }: Report, own: Acknowledgements): Acknowledgements {
  const told = acknowledged.flatMap(({ check, subject, acknowledged: accepted }) =>
    accepted === undefined ? [] : [{ check, subject, ...accepted }],
  );
  return { entries: [...told, ...own.entries], faults: own.faults };
}

/**
 * Looks from this machine, with connections of its own to every configured store and engine. Nothing is known of serpcache
 * itself then.
 * @throws ConfigError
 */
export function directLooker(
  asked: LookRequest,
  { settings, clock }: Pick<CommandContext, 'settings' | 'clock'>,
): Looker {
  const configured = settings();
  const file = asked.acknowledged ?? configured.doctor.acknowledged;
  const judge = createJudge(asked.checks);
  const examiner = createExaminer({
    stores: openStoreProbes(configured, { clock, random: Math.random }),
    engines: openEngineProbes(configured.domains, { clock }),
    readHost: createHostReader({ role: 'service', clock }),
    clock,
    random: Math.random,
  });
  return {
    look: async () => {
      const beganMs = clock.monotonicMs();
      const snapshots = mergeParts(await examiner.series(asked.windowMs), asked.parts);
      const acknowledgements = acknowledgementsIn(file, clock.wallMs());
      const tookMs = clock.monotonicMs() - beganMs;
      const judged = diagnose(snapshots, { acknowledgements, tookMs, judge });
      const report = { ...judged, remarks: [...judged.remarks, ...ageRemarks(asked.parts, judged.atMs)] };
      return { report, snapshots, acknowledgements, answered: snapshots.some(isAnswered) };
    },
    close: examiner.close,
  };
}

function isAnswered({ stores, engines }: Snapshot): boolean {
  if (stores.length === 0 && engines.length === 0) return true;
  const nodes = stores.flatMap((store) => known(store.nodes) ?? []);
  return (
    nodes.some(({ info }) => known(info) !== undefined) ||
    engines.some(({ kind, status }) => kind === 'sqlite' || known(status) !== undefined)
  );
}

/**
 * Looks by the service, or from this machine when no service answers the first time. A service that refuses is no reason to
 * look elsewhere.
 * @param direct makes the other looker, when it is needed
 */
export function eitherLooker(service: Looker, direct: () => Looker): Looker {
  let chosen: Looker | undefined;
  let remark: string | undefined;
  return {
    look: async () => {
      if (chosen === undefined) {
        try {
          const look = await service.look();
          chosen = service;
          return look;
        } catch (error) {
          if (!(error instanceof AdminUnreachable)) throw error;
          chosen = direct();
          remark = `${error.message}. This machine looked instead, with its own configuration.`;
        }
      }
      const look = await chosen.look();
      const { report } = look;
      return remark === undefined ? look : { ...look, report: { ...report, remarks: [remark, ...report.remarks] } };
    },
    close: async () => chosen?.close(),
  };
}
