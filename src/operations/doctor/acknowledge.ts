import Type from 'typebox';
import { parse } from 'yaml';
import { describeFault, formatPath } from '../../schema/faults.ts';
import { type Decoded, text } from '../../schema/fields.ts';
import { readTree } from '../../schema/read.ts';
import { DAY, KIB } from '../../schema/units.ts';
import type { Finding } from './report.ts';

/** One finding that is true and accepted, until a day. */
const ACKNOWLEDGEMENT = Type.Object({
  check: text('The name of a check: serpcache doctor --list shows them.'),
  // Absent: every subject of the check.
  subject: Type.Optional(text('A part of the subject that the finding names, such as an address.')),
  reason: text('Why it is accepted.', { maxLength: 500, pattern: '\\S' }),
  until: Type.String({ format: 'date', 'x-allowed': 'a day such as 2027-03-01, the last one, in UTC' }),
});
export type Acknowledgement = Decoded<typeof ACKNOWLEDGEMENT>;

export interface Acknowledgements {
  readonly entries: readonly Acknowledgement[];
  /** Entries that are wrong or expired, in words. They acknowledge nothing. */
  readonly faults: readonly string[];
}

export const NO_ACKNOWLEDGEMENTS: Acknowledgements = { entries: [], faults: [] };

export const MAX_ACKNOWLEDGEMENT_BYTES = 64 * KIB;
const MAX_ENTRIES = 200;

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
    const read = readTree(ACKNOWLEDGEMENT, value);
    const entry = read.value as Acknowledgement;
    const wrong = read.faults.map(({ path, ...fault }) => describeFault({ ...fault, path: formatPath(path) || 'it' }));
    if (wrong.length === 0 && !checks.has(entry.check)) {
      wrong.push(`check: ${JSON.stringify(entry.check)}; allowed: a check (serpcache doctor --list shows them)`);
    } else if (wrong.length === 0 && nowMs >= Date.parse(entry.until) + DAY) {
      wrong.push(`${entry.check} was accepted until ${entry.until}, and that day has passed`);
    }
    if (wrong.length === 0) entries.push(entry);
    faults.push(...wrong.map((fault) => `acknowledgement ${at + 1}: ${fault}`));
  }
  return { entries, faults };
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
