import type { Journal } from '../../drills/journal.ts';
import { elapsed } from '../admin/format.ts';
import type { Desk } from '../admin/operator-command.ts';
import { printable } from '../admin/output.ts';
import { followLine } from './follow-line.ts';
import { markText } from './mark-text.ts';

/** The view of a running drill: one line is redrawn, and each event adds a line above it. */
export interface FollowView {
  /** With the samples and marks that are new. */
  readonly show: (journal: Journal) => void;
  readonly say: (text: string) => void;
  /** Leaves the terminal as it was found. */
  readonly finish: () => void;
}

export function createFollowView({ output, stderr }: Pick<Desk, 'output' | 'stderr'>, started: Journal): FollowView {
  let line = '';
  let said = '';
  const clear = output.watched ? '\r\u001b[K' : '';
  const draw = (): void => {
    if (!output.watched || line === '') return;
    // A line wider than the terminal would wrap and could not be drawn over.
    stderr.write(`${clear}${[...line].slice(0, Math.max(20, (stderr.columns || 80) - 1)).join('')}`);
  };
  const say = (text: string): void => {
    if (text === said) return;
    said = text;
    stderr.write(`${clear}${printable(text)}\n`);
    draw();
  };

  return {
    say,
    show: (journal) => {
      for (const mark of journal.marks) {
        output.event({ ...mark, kind: 'mark', mark: mark.kind });
        // A stage has a mark of its own; and where nobody watches, the lines of JSON say it.
        if ((mark.kind === 'phase' && mark.phase === 'stage') || !(output.watched || !output.json)) continue;
        say(`${elapsed(mark.atMs).padStart(9)}  ${markText(mark, started.plan)}`);
      }
      for (const sample of journal.samples) output.event({ kind: 'sample', ...sample });
      const latest = journal.samples.at(-1);
      if (latest !== undefined) line = printable(followLine(latest, journal));
      draw();
    },
    finish: () => {
      if (line !== '' && output.watched) stderr.write(clear);
      line = '';
    },
  };
}
