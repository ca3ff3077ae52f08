/**
 * The canonical form of a text: what two people mean alike is written alike. Order and meaning of words never change.
 * Applying it twice changes nothing more (property-tested), whatever the input.
 */
export function canonicalText(text: string): string {
  if (PLAIN.test(text)) return collapse(yo(text.toLowerCase()));
  let current = text;
  // A rule may uncover work for an earlier one (an accent left behind by ё→е composes anew): to the fixed point.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = RULES.reduce((value, rule) => rule.apply(value), current);
    if (next === current) break;
    current = next;
  }
  return current;
}

export interface AppliedRule {
  readonly rule: string;
  readonly before: string;
  readonly after: string;
}

/** The same, with each rule that changed something, in the order applied. */
export function explainCanonicalText(text: string): readonly AppliedRule[] {
  const applied: AppliedRule[] = [];
  let current = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = current;
    for (const { rule, apply } of RULES) {
      const after = apply(current);
      if (after !== current) applied.push({ rule, before: current, after });
      current = after;
    }
    if (current === before) break;
  }
  return applied;
}

const MAX_ROUNDS = 8;

/** Printable ASCII and basic Russian: nothing to normalise, case folds letter by letter. Nearly every query. */
const PLAIN = /^[ -~А-яЁё]*$/;

const yo = (text: string): string => text.replaceAll('ё', 'е');
const collapse = (text: string): string => text.replace(/\s+/gu, ' ').trim();

/**
 * Lower, upper, lower: ẞ and ß both become ss, final and medial sigma become one. A one-way `toLowerCase` would give the
 * same word two keys, depending on how it was typed.
 */
const foldCase = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase();

const RULES: readonly { readonly rule: string; readonly apply: (text: string) => string }[] = [
  // NFKC would glue their letters to the word before or after: core™ → coretm, №5 → no5.
  { rule: 'word signs', apply: (text) => text.replace(/[™℠№]/gu, ' ') },
  { rule: 'unicode NFKC', apply: (text) => text.normalize('NFKC') },
  // Soft hyphen, zero-width space, word joiner, byte order mark, marks of direction: copied along, meaning nothing.
  {
    rule: 'invisible characters',
    apply: (text) => text.replace(/[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu, ''),
  },
  { rule: 'case', apply: foldCase },
  { rule: 'ё → е', apply: yo },
  { rule: 'white space', apply: collapse },
];
