import { parse } from 'yaml';
import { isMapping } from '../../schema/read.ts';
import { DAY, KIB } from '../../schema/units.ts';
import type { Finding } from './report.ts';

/** One finding that is true and accepted, until a day. */
export interface Acknowledgement {
  readonly check: string;
  /** A part of the subject, such as an address; absent: every subject of the check. */
  readonly subject?: string;
  readonly reason: string;
  /** `2027-03-01`: the last day, UTC. */
  readonly until: string;
}

export interface Acknowledgements {
  readonly entries: readonly Acknowledgement[];
  /** Entries that are wrong or expired, in words. They acknowledge nothing. */
  readonly faults: readonly string[];
}

export const NO_ACKNOWLEDGEMENTS: Acknowledgements = { entries: [], faults: [] };

export const MAX_ACKNOWLEDGEMENT_BYTES = 64 * KIB;
const MAX_ENTRIES = 200;
const MAX_REASON = 500;

/**
 * The file of acknowledgements: a YAML list of `check`, `subject` (optional), `reason` and `until`. A wrong entry is told
 * and ignored: it must not hide the others.
 * @param checks names that exist
 */
export function readAcknowledgements(text: string, nowMs: number, checks: ReadonlySet<string>): Acknowledgements {
  let list: unknown;
  try {
    list = parse(text, { maxAliasCount: 0 });
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return { entries: [], faults: [`the acknowledgements are no YAML: ${line}`] };
  }
  if (list === null || list === undefined) return NO_ACKNOWLEDGEMENTS;
  if (!Array.isArray(list) || list.length > MAX_ENTRIES) {
    return { entries: [], faults: [`the acknowledgements must be a list of at most ${MAX_ENTRIES} entries`] };
  }
  const entries: Acknowledgement[] = [];
  const faults: string[] = [];
  for (const [at, value] of (list as readonly unknown[]).entries()) {
    const read = entryOf(value, nowMs, checks);
    if (typeof read === 'string') faults.push(`acknowledgement ${at + 1}: ${read}`);
    else entries.push(read);
  }
  return { entries, faults };
}

/** The entry, or its fault in words. */
function entryOf(value: unknown, nowMs: number, checks: ReadonlySet<string>): Acknowledgement | string {
  if (!isMapping(value)) return 'it must have the members check, reason and until';
  const unknown = Object.keys(value).find((name) => !['check', 'subject', 'reason', 'until'].includes(name));
  if (unknown !== undefined) return `${unknown} is no member; allowed: check, subject, reason, until`;
  const { check, subject, reason } = value;
  if (typeof check !== 'string' || !checks.has(check)) {
    return `check must name a check (serpcache doctor --list shows them), not ${JSON.stringify(check)}`;
  }
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > MAX_REASON) {
    return `reason must be a text of at most ${MAX_REASON} characters`;
  }
  if (subject !== undefined && (typeof subject !== 'string' || subject === '')) {
    return 'subject must be a part of the subject that the finding names, such as an address';
  }
  const until = dayOf(value['until']);
  if (until === undefined) return `until must be a day such as 2027-03-01, not ${JSON.stringify(value['until'])}`;
  if (nowMs >= Date.parse(until) + DAY) return `${check} was accepted until ${until}, and that day has passed`;
  return { check, subject, reason: reason.trim(), until };
}

/** YAML reads an unquoted day as a text or as a date, by its schema. */
function dayOf(value: unknown): string | undefined {
  const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString().slice(0, 10) : value;
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text ? undefined : text;
}

/** Splits findings into those that count and those that are accepted. */
export function acknowledge(
  findings: readonly Finding[],
  { entries }: Acknowledgements,
): { readonly findings: readonly Finding[]; readonly acknowledged: readonly Finding[] } {
  const marked = findings.map((finding): Finding => {
    const accepted = entries.find(
      ({ check, subject }) => check === finding.check && (subject === undefined || names(finding.subject, subject)),
    );
    return accepted === undefined
      ? finding
      : { ...finding, acknowledged: { reason: accepted.reason, until: accepted.until } };
  });
  return {
    findings: marked.filter(({ acknowledged }) => acknowledged === undefined),
    acknowledged: marked.filter(({ acknowledged }) => acknowledged !== undefined),
  };
}

/** Whether the part stands in the subject as whole words: 10.0.0.7 is no part of 10.0.0.71. */
function names(subject: string, part: string): boolean {
  const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character);
  for (let at = subject.indexOf(part); at >= 0; at = subject.indexOf(part, at + 1)) {
    if (!isWord(subject[at - 1]) && !isWord(subject[at + part.length])) return true;
  }
  return false;
}
