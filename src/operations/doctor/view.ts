import { countText, durationText } from '../../report/format.ts';
import type { Severity } from './check.ts';
import type { Finding, HistoryLine, Looked, Report, Skipped } from './report.ts';

/**
 * A report of the doctor as text: what the CLI and the console show of it. The browser loads this file too. A report may
 * come from a process of another version, so an unknown name is shown and never throws.
 */

type Tone = 'good' | 'warn' | 'bad' | 'none';

type SeverityView = { readonly word: string; readonly many: string; readonly tone: Tone };

const SEVERITIES: Readonly<Record<Severity, SeverityView>> = {
  critical: { word: 'critical', many: 'critical', tone: 'bad' },
  warning: { word: 'warning', many: 'warnings', tone: 'warn' },
  info: { word: 'info', many: 'info', tone: 'none' },
};

export function severityOf(severity: Severity): SeverityView {
  return Object.hasOwn(SEVERITIES, severity) ? SEVERITIES[severity] : { word: severity, many: severity, tone: 'none' };
}

/** Counts by severity, most severe first; zeroes are left out. */
export function countsOf(findings: readonly Pick<Finding, 'severity'>[]) {
  return (Object.keys(SEVERITIES) as Severity[]).flatMap((severity) => {
    const count = findings.filter((one) => one.severity === severity).length;
    const { word, many } = severityOf(severity);
    return count === 0 ? [] : [{ severity, count, text: `${countText(count)} ${count === 1 ? word : many}` }];
  });
}

/** Findings that need a change: critical ones and warnings. */
export function aboveInfo<F extends Pick<Finding, 'severity'>>(findings: readonly F[]): readonly F[] {
  return findings.filter(({ severity }) => severity !== 'info');
}

/** `healthy`, or `1 critical, 2 warnings`; then accepted findings. */
export function healthText({ findings, acknowledged }: Pick<Report, 'findings' | 'acknowledged'>): string {
  const parts = countsOf(findings).map(({ text }) => text);
  if (aboveInfo(findings).length === 0) parts.unshift('healthy');
  if (acknowledged.length > 0) parts.push(`${countText(acknowledged.length)} acknowledged`);
  return parts.join(', ');
}

/** How often a finding was seen, and its rule: `3 of 3 windows of 1.0 s; fires at …` */
export function seenText({ seen, threshold }: Pick<Finding, 'seen' | 'threshold'>): string {
  return `seen in ${seen}; fires at: ${threshold}`;
}

export function acceptedText({ reason, until }: NonNullable<Finding['acknowledged']>): string {
  return `accepted until ${until}: ${reason}`;
}

/** Subjects that are named in a line; the others are counted. */
const NAMED = 3;

function someOf(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return rest <= 0 ? names.join(', ') : `${names.slice(0, NAMED).join(', ')} and ${countText(rest)} more`;
}

/** Reasons that end by themselves, with more load or more time. */
const TOO_LITTLE = /fewer than|no two readings|read once only|no CPU time passed/;

/**
 * One entry per reason, most checks first; checks for which there was too little to judge are one, and the last. `text`:
 * `12 checks skipped on 127.0.0.1:6379: CONFIG GET is refused`
 */
export function skippedViews(
  skipped: readonly Skipped[],
): readonly { readonly checks: number; readonly text: string }[] {
  type Group = { readonly reason: string; readonly checks: Set<string>; readonly subjects: Set<string> };
  const groups = new Map<string, Group>();
  for (const { check, reason, subjects } of skipped) {
    if (TOO_LITTLE.test(reason)) continue;
    // Reasons that differ in figures only are one.
    const kind = reason.replaceAll(/[\d.,]+/g, '#');
    const group = groups.get(kind) ?? { reason, checks: new Set(), subjects: new Set() };
    groups.set(kind, group);
    group.checks.add(check);
    for (const subject of subjects) group.subjects.add(subject);
  }
  const views = [...groups.values()].map(({ reason, checks, subjects }) => {
    const where = subjects.size === 0 ? '' : ` on ${someOf([...subjects])}`;
    return { checks: checks.size, text: `${checksText([...checks])} skipped${where}: ${reason}` };
  });
  const few = [...new Set(skipped.filter(({ reason }) => TOO_LITTLE.test(reason)).map(({ check }) => check))];
  return [
    ...views.toSorted((a, b) => b.checks - a.checks),
    ...(few.length === 0
      ? []
      : [{ checks: few.length, text: `${checksText(few)} skipped: too little load or time to judge` }]),
  ];
}

function checksText(checks: readonly string[]): string {
  return checks.length === 1 ? `${checks[0]} is` : `${countText(checks.length)} checks are`;
}

/** The things that were looked at, one line each, and what is not there to be looked at. */
export function lookedLines({ stores, engines, hosts, service }: Looked): readonly string[] {
  return [
    ...stores.map(({ name, kind, nodes, unreached }) => {
      const missing = unreached.length === 0 ? '' : `; no answer from ${someOf(unreached)}`;
      return `${name}: ${kind}, ${nodes.length === 0 ? 'no node known' : someOf(nodes)}${missing}`;
    }),
    ...(stores.length > 0 ? [] : [NO_STORE]),
    ...engines.map(({ name, endpoint, version }) => {
      return `${name}: ${endpoint}${version === undefined ? '' : `, ${version}`}`;
    }),
    ...hosts.map((name) => `host ${name}`),
    service ? 'serpcache: the running process that answered' : NO_SERVICE,
  ];
}

const NO_STORE =
  'no store is configured: pages, purges and counts of each process are its own, are lost when it ends, and nothing is shared';
const NO_SERVICE = 'serpcache: no running process, so its own figures were not looked at';

/** The hosts that were not examined, and the command that examines them. Undefined: all were examined. */
export function unseenText({ unseen }: Pick<Looked, 'unseen'>): string | undefined {
  if (unseen.length === 0) return undefined;
  return `not looked at: the kernel, network and disks of ${someOf(unseen)}; there: serpcache doctor --host > part.json, then here: serpcache doctor --merge part.json`;
}

type Coverage = Pick<Report, 'checked' | 'fine' | 'windows' | 'windowSeconds' | 'tookMs'>;

/** `113 checks made, 112 fine, 3 windows of 1.0 s, 3.4 s in all` */
export function coverageText({ checked, fine, windows, windowSeconds, tookMs }: Coverage): string {
  return [
    `${countText(checked)} checks made, ${countText(fine)} fine`,
    `${countText(windows)} windows of ${durationText(windowSeconds * 1000)}`,
    `${durationText(tookMs)} in all`,
  ].join(', ');
}

type Change = Pick<HistoryLine, 'change' | 'severity' | 'check' | 'subject' | 'evidence'>;

/** `raised: warning store-evictions at 127.0.0.1:6379: …` */
export function historyText({ change, severity, check, subject, evidence }: Change): string {
  return `${change}: ${severityOf(severity).word} ${check} at ${subject}${change === 'raised' ? `: ${evidence}` : ''}`;
}
