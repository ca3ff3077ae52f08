import type { Journal } from './journal.ts';

/** Raw line ends are in no JSON text, so the samples are found without parsing them. */
const SAMPLES = ',"samples":[\n';

/** JSON with a sample per line, the samples last: the rest can be read without them. */
export function encodeJournal({ samples, ...head }: Journal): string {
  const lines = samples.map((sample) => JSON.stringify(sample)).join(',\n');
  return `${JSON.stringify(head).slice(0, -1)}${SAMPLES}${lines}\n]}\n`;
}

/** Undefined: not a journal, or a damaged one. */
export function decodeJournal(text: string): Journal | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJournal(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The same without samples. */
export function decodeJournalHead(text: string): Journal | undefined {
  const end = text.indexOf(SAMPLES);
  return end < 0 ? undefined : decodeJournal(`${text.slice(0, end)},"samples":[]}`);
}

/** As much of its shape as keeps a reader from failing; what writes journals is this service. */
export function isJournal(value: unknown): value is Journal {
  if (typeof value !== 'object' || value === null) return false;
  const { id, plan, domains, startedAtMs, marks, samples, learned, state } = value as Partial<Record<string, unknown>>;
  return (
    typeof id === 'string' &&
    typeof startedAtMs === 'number' &&
    [domains, marks, samples, learned].every(Array.isArray) &&
    isObject(state) &&
    isObject(plan) &&
    'stages' in plan &&
    Array.isArray(plan.stages)
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
