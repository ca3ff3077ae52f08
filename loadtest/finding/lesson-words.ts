import type { Lesson } from './finding.ts';

interface LessonWords {
  /** For who looks for it in many lines. */
  readonly sign: string;
  readonly word: string;
}

/** Whether a lesson holds, told by a sign and by words. */
export function lessonWords({ holds }: Lesson): LessonWords {
  switch (holds) {
    case 'yes':
      return { sign: '✓', word: 'holds here: yes' };
    case 'partly':
      return { sign: '~', word: 'holds here: partly' };
    case 'no':
      return { sign: '✕', word: 'holds here: no' };
  }
}
