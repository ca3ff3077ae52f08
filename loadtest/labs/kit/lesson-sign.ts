import type { Lesson } from './finding.ts';

/** For who looks for the sentence in many lines: it says the same in words. */
export const LESSON_SIGNS: Readonly<Record<Lesson['holds'], string>> = { yes: '✓', partly: '~', no: '✕', unseen: '?' };
