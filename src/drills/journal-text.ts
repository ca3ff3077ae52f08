import { Compile } from 'typebox/compile';
import type { Journal } from './journal.ts';
import { JOURNAL } from './journal-schema.ts';

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
