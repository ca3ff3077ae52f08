import { h } from '../../../page/assets/view/tree.mjs';
import { askPerson, reasonField, textIn } from '../dialog.mjs';

/** @type {import('./desk.mjs').Acts} */
export const HALT_ACTS = {
  halt: {
    at: 'top',
    run: async ({ api, refresh }) => {
      const answer = await askPerson({
        title: 'Halt all drills?',
        go: 'Halt all drills',
        isDanger: true,
        content: [
          h(
            'p',
            {},
            'Every drill of every domain stops and its cache is restored. No drill starts until the halt is lifted.',
          ),
          reasonField('incident 4711'),
        ],
      });
      if (answer === undefined) return undefined;
      await api.post('/admin/halt', { reason: textIn(answer, 'reason') });
      refresh('halt', 'drills');
      return 'Halted: every drill is stopped and its cache restored.';
    },
  },
  lift: {
    at: 'top',
    run: async ({ api, refresh }) => {
      const answer = await askPerson({
        title: 'Lift the halt?',
        go: 'Lift the halt',
        content: [
          h('p', {}, 'Drills may start again. Those that were stopped stay stopped until somebody resumes them.'),
          reasonField('incident 4711 is over'),
        ],
      });
      if (answer === undefined) return undefined;
      await api.post('/admin/halt/lift', { reason: textIn(answer, 'reason') });
      refresh('halt');
      return 'The halt is lifted.';
    },
  },
};
