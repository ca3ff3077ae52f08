import type { Caller } from '../../control/control.ts';
import type { StoreRef } from '../../control/document.ts';
import { OperationError } from '../../control/operation-error.ts';
import { beginShadow, changeShadow, endShadow } from '../../control/placement.ts';
import { createRecordArchive, recordId } from '../../report/record-archive.ts';
import type { Runtime } from '../../runtime.ts';
import { type CutOverSteps, createCutOver } from './cut-over.ts';
import { createDomainShadow, type DomainShadow, type RunningShadow, type ShadowDomain } from './domain-shadow.ts';
import type { ShadowedStore } from './domain-stores.ts';
import type { ShadowVerdict } from './figures.ts';
import { checkCandidate } from './preflight.ts';
import { shadowReportPage } from './report-page.ts';
import {
  type ChangeShadow,
  type CutOverRequest,
  type Moved,
  reportSummary,
  SHADOW_REPORTS,
  type ShadowEvent,
  type ShadowReport,
  type ShadowStatus,
  type ShadowSummary,
  type StartShadow,
  type Stopped,
} from './shadow.ts';
import { judge } from './verdict.ts';

interface ShadowsOptions extends Runtime<ShadowEvent> {
  readonly domains: readonly ShadowDomain[];
  /** Every configured domain, those without a store included. */
  readonly names: readonly string[];
  /** Where reports are kept, and how many of the newest. */
  readonly directory: string;
  readonly keep: number;
  /** Silence of the control store after which a process reads and writes both stores of a cut-over. */
  readonly leaseMs: number;
  readonly loopDelay: () => { readonly loopDelayMs: number; readonly maxLoopDelayMs: number };
}

/** The time that a verdict covers unless an operator says otherwise. */
export const VERDICT_MS = 600_000;
/** Another process that ends the same shadow writes its report too; this process waits for it and keeps the longer one. */
const REPORT_DELAY_MS = 3000;

const UNKNOWN_PROCESSES = 'The live processes are not known now: the control store or the stores in use do not answer.';

interface Part {
  readonly domain: ShadowDomain;
  readonly follower: DomainShadow;
}

interface ShadowedPart extends Part {
  readonly shadowed: ShadowedStore;
  readonly steps: CutOverSteps;
}

/**
 * Shadow traffic to a candidate store, the verdict on it, and the cut-over to it. The admin API, the CLI and the console
 * use this interface. A domain has at most one shadow and one cut-over at a time, in the whole fleet.
 */
export type Shadows = ReturnType<typeof createShadows>;

export function createShadows(options: ShadowsOptions) {
  const { domains, names, directory, keep, clock, random, processId, observe } = options;
  const archive = createRecordArchive({
    reader: SHADOW_REPORTS,
    directory,
    keep,
    onFault: (id, detail) => observe({ kind: 'shadow-unwritten', id, detail }),
  });
  let closed = false;
  let checking = 0;
  const writes = new Set<Promise<void>>();
  /** Reports of shadows that ended elsewhere. */
  const delayed = new Map<ShadowReport, NodeJS.Timeout>();

  const keepReport = (report: ShadowReport): void => {
    clearTimeout(delayed.get(report));
    delayed.delete(report);
    const written = (async () => {
      const known = await archive.read(report.id);
      const samples = known?.kind === 'record' ? known.record.samples.length : 0;
      if (samples <= report.samples.length) await archive.write(report);
    })();
    writes.add(written);
    void written.finally(() => writes.delete(written));
  };

  const reportOf = (domain: ShadowDomain, ended: RunningShadow, why: string): ShadowReport => {
    const { shadow, recorder, changes } = ended;
    return {
      id: shadow.id,
      domain: domain.name,
      primary: primaryOf(domain, shadow.candidate),
      candidate: shadow.candidate,
      by: shadow.by,
      startedAtMs: shadow.atMs,
      endedAtMs: Math.max(shadow.atMs, clock.wallMs()),
      ended: why,
      changes,
      samples: recorder.samples(),
      total: recorder.total(),
      verdict: verdictOf(ended, VERDICT_MS),
      wrongKeys: recorder.wrongKeys(),
    };
  };

  /** After a commit the candidate is the active store, and the primary is the other one. */
  const primaryOf = ({ shadowed, configured }: ShadowDomain, candidate: StoreRef): StoreRef => {
    const inUse = [shadowed?.placed.active(), shadowed?.placed.other()];
    return inUse.find((one) => one !== undefined && one.fingerprint !== candidate.fingerprint) ?? configured;
  };

  const verdictOf = ({ recorder, startedMs }: RunningShadow, forMs: number): ShadowVerdict =>
    judge({
      samples: recorder.samples(),
      total: recorder.total(),
      wrongKeys: recorder.wrongKeys(),
      between: recorder.between,
      forMs,
      nowMs: clock.monotonicMs() - startedMs,
    });

  /** Ids of shadows whose reports are written by the call that ends them. */
  const endedHere = new Map<string, string>();
  const parts = new Map<string, Part | ShadowedPart>(
    domains.map((domain) => {
      const follower = createDomainShadow({
        ...domain,
        processId,
        clock,
        observe,
        leaseMs: options.leaseMs,
        loopDelay: options.loopDelay,
        onEnded: (ended, why) => {
          const here = endedHere.get(ended.shadow.id);
          // Made now: the verdict is about the time until the end.
          const report = reportOf(domain, ended, here ?? why);
          if (here !== undefined || closed) keepReport(report);
          else delayed.set(report, setTimeout(keepReport, REPORT_DELAY_MS * (0.5 + random()), report).unref());
        },
      });
      const { shadowed } = domain;
      if (shadowed === undefined) return [domain.name, { domain, follower }];
      const newId = (): string => recordId({ atMs: clock.wallMs(), words: [domain.name, 'cut-over'], random });
      const steps = createCutOver({ domain, shadowed, follower, newId, clock });
      return [domain.name, { domain, follower, shadowed, steps }];
    }),
  );

  /** @throws OperationError unknown-domain, no-store */
  const partOf = (name: string): Part | ShadowedPart => {
    const part = parts.get(name);
    if (part !== undefined) return part;
    if (names.includes(name)) throw new OperationError('no-store', `${name} has no store`, 'domain');
    throw new OperationError('unknown-domain', `domain must be one of: ${names.join(', ')}`, 'domain');
  };
  /** @throws OperationError also unknown-candidate */
  const shadowedPart = (name: string): ShadowedPart => {
    const part = partOf(name);
    if ('shadowed' in part) return part;
    throw new OperationError(
      'unknown-candidate',
      `${name} declares no candidates: add candidates: to its configuration`,
    );
  };
  const runningIn = ({ domain, follower }: Part): RunningShadow => {
    const running = follower.running();
    if (running !== undefined) return running;
    const { shadow } = domain.control.document();
    const why = shadow === undefined ? '' : ` in this process: ${follower.warning() ?? 'it has just begun'}`;
    throw new OperationError('no-shadow', `no shadow runs in ${domain.name}${why}`);
  };

  const summaryOf = (part: Part | ShadowedPart): ShadowSummary => {
    const { domain, follower } = part;
    const { shadow, placement } = domain.control.document();
    const warning = follower.warning();
    const running = follower.running();
    return {
      domain: domain.name,
      configured: domain.configured,
      candidates: domain.shadowed?.candidates ?? [],
      shadow: shadow !== undefined && clock.wallMs() < shadow.untilMs ? shadow : undefined,
      placement,
      active: domain.shadowed?.placed.active() ?? domain.configured,
      paused: running?.mirror.isPaused() ?? false,
      warning,
    };
  };

  const statusOf = async (part: Part | ShadowedPart, forMs: number): Promise<ShadowStatus> => {
    const { domain, follower } = part;
    const running = follower.running();
    const { placement } = domain.control.document();
    const processes = await follower.processes();
    const summary = summaryOf(part);
    const elapsedMs = running && clock.monotonicMs() - running.startedMs;
    const isMoved = placement !== undefined && placement.phase !== 'prepared';
    const configuration =
      isMoved && 'shadowed' in part && placement.active.fingerprint !== domain.configured.fingerprint
        ? part.shadowed.configuration(placement.active, domain.configured)
        : undefined;
    return {
      ...summary,
      warning: processes === undefined && 'shadowed' in part ? UNKNOWN_PROCESSES : summary.warning,
      processes: processes ?? [],
      elapsedMs,
      figures: elapsedMs === undefined ? undefined : running?.recorder.between(elapsedMs - forMs, elapsedMs),
      verdict: running && verdictOf(running, forMs),
      wrongKeys: running?.recorder.wrongKeys() ?? [],
      configuration: configuration || undefined,
    };
  };

  const candidateOf = ({ domain, shadowed }: ShadowedPart, name: string): StoreRef => {
    // After a cut-over the store of the configuration is a candidate too, by its own name.
    const known = [...shadowed.candidates, domain.configured].filter(
      ({ fingerprint }) => fingerprint !== shadowed.placed.active().fingerprint,
    );
    const found = known.find((one) => one.name === name);
    if (found !== undefined) return found;
    const words = known.map((one) => one.name).join(', ');
    throw new OperationError('unknown-candidate', `candidate must be one of: ${words}`, 'candidate');
  };

  const checkFit = async (part: ShadowedPart, ref: StoreRef, fraction: number): Promise<void> => {
    const { domain, shadowed } = part;
    const candidate = shadowed.placed.opened(ref.fingerprint);
    if (candidate === undefined)
      throw new OperationError('unknown-candidate', `${ref.name} is not declared`, 'candidate');
    await checkCandidate({
      domain: domain.name,
      ref,
      candidate,
      fraction,
      clock,
      primary: shadowed.placed,
      lastFailure: () => shadowed.lastFailure(ref.fingerprint),
    });
  };

  /** Marks a shadow as ended by this call while `end` runs, so that its report is written now. */
  const endingHere = async <Result>(id: string, why: string, end: () => Promise<Result>): Promise<Result> => {
    if (endedHere.has(id)) throw new OperationError('cut-over-running', `shadow ${id} is being ended already`);
    endedHere.set(id, why);
    try {
      const result = await end();
      await Promise.all(writes);
      return result;
    } finally {
      endedHere.delete(id);
    }
  };

  /** @throws OperationError unknown-report, also when its file is damaged */
  const reportWith = async (id: string): Promise<ShadowReport> => {
    const read = await archive.read(id);
    if (read?.kind === 'record') return read.record;
    throw new OperationError('unknown-report', `there is no report ${id}`, 'id');
  };

  return {
    /** Every domain that has a store: its candidates, its shadow, its placement. */
    list: () => [...parts.values()].map(summaryOf),
    /** @throws OperationError unknown-domain, no-store */
    status: async (domain: string, forMs = VERDICT_MS) => statusOf(partOf(domain), forMs),
    /** The curves since the start of the shadow, as far as this process has recorded them. @throws OperationError */
    samples: (domain: string) => partOf(domain).follower.running()?.recorder.samples() ?? [],
    /**
     * Checks the candidate and begins the copies. Nothing is sent to the candidate but checks before it has passed all of them.
     * @throws OperationError unknown-candidate, shadow-running, cut-over-running, candidate-unfit, halted …
     */
    start: async ({ domain, candidate, fraction, reads, forMs }: StartShadow, { by }: Caller) => {
      const part = shadowedPart(domain);
      const { control } = part.domain;
      const ref = candidateOf(part, candidate);
      // Refused before the candidate is asked anything.
      const nowMs = clock.wallMs();
      const id = recordId({ atMs: nowMs, words: [domain, candidate], random });
      const shadow = { id, candidate: ref, fraction, reads, by, atMs: nowMs, untilMs: nowMs + forMs };
      beginShadow(control.document(), shadow, nowMs);
      checking += 1;
      try {
        await checkFit(part, ref, fraction);
        await control.change((document) => beginShadow(document, shadow, nowMs));
      } finally {
        checking -= 1;
        // Another call may be checking the same candidate.
        if (checking === 0 && part.follower.running() === undefined) part.shadowed.placed.releaseUnused();
      }
      return statusOf(part, VERDICT_MS);
    },
    /** Changes the fraction or the reads of the running shadow. @throws OperationError no-shadow, candidate-unfit … */
    change: async ({ domain, fraction, reads }: ChangeShadow) => {
      const part = shadowedPart(domain);
      const { shadow } = runningIn(part);
      if (fraction !== undefined && fraction > shadow.fraction) await checkFit(part, shadow.candidate, fraction);
      const change = { fraction, reads };
      await part.domain.control.change((document) => changeShadow(document, shadow.id, change));
      return statusOf(part, VERDICT_MS);
    },
    /**
     * Ends the use of the second store: a shadow ends, a prepared cut-over is cancelled, after a commit the old store is no
     * longer read or written. Resolves to the id of the report when a shadow ended.
     * @throws OperationError no-shadow; cut-over-behind when a process has not acknowledged the commit
     */
    stop: async (domain: string, caller: Caller): Promise<Stopped> => {
      const part = partOf(domain);
      const { control } = part.domain;
      const { placement, shadow } = control.document();
      if (shadow === undefined || placement?.phase === 'prepared') return shadowedPart(domain).steps.stop();
      const { id } = shadow;
      const isHere = part.follower.running()?.shadow.id === id;
      await endingHere(id, `stopped by ${caller.by}`, () => control.change((document) => endShadow(document, id)));
      return { domain, ended: 'shadow', report: isHere ? id : undefined };
    },
    /**
     * Prepare, wait for every live process, commit. @throws OperationError no-shadow, no-verdict (without `force`),
     * no-control-store, drill-running, cut-over-running, cut-over-behind (it names the process; the preparation is undone) …
     */
    cutOver: async ({ domain, force, forMs }: CutOverRequest, caller: Caller): Promise<Moved> => {
      const part = shadowedPart(domain);
      const running = runningIn(part);
      const verdict = verdictOf(running, forMs);
      if (verdict.kind !== 'cut-over' && !force) {
        throw new OperationError(
          'no-verdict',
          `${verdict.why} To cut over all the same, say force with a reason.`,
          'force',
        );
      }
      const { id } = running.shadow;
      const moved = await endingHere(id, `cut-over by ${caller.by}`, () => part.steps.cutOver(caller));
      return { ...moved, report: id };
    },
    /**
     * Commits the way back to the store before, once. @throws OperationError no-cut-over, drill-running, candidate-unfit when
     * that store does not answer, control-unavailable
     */
    back: async (domain: string, caller: Caller) => shadowedPart(domain).steps.back(caller),
    reports: async () => (await archive.heads()).records.map(reportSummary),
    report: reportWith,
    /** The report: one HTML page that loads nothing. @throws OperationError unknown-report */
    page: async (id: string) => shadowReportPage(await reportWith(id)),
    /** Writes the reports of running shadows and ends the copies of this process. */
    close: async () => {
      closed = true;
      for (const { follower } of parts.values()) follower.close();
      for (const report of delayed.keys()) keepReport(report);
      await Promise.all(writes);
    },
  };
}
