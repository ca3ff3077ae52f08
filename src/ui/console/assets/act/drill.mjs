import { h } from '../../../page/assets/view/tree.mjs';
import { runningDrills } from '../data/model.mjs';
import { askPerson, reasonField, textIn } from '../dialog.mjs';
import { showReport } from '../show-report.mjs';
import { GUARD_NAMES, guardValue, modeWords, planMs, stageTitle } from '../view/drill-words.mjs';
import { plannedPercent, rate, stopwatch } from '../view/format.mjs';

/**
 * @typedef {import('./desk.mjs').Acts} Acts
 * @typedef {import('../data/shapes.mjs').Journal} Journal
 * @typedef {import('../data/shapes.mjs').DrillPreview} DrillPreview
 */

/** @param {string} id */
const pathOf = (id) => `/admin/drills/${encodeURIComponent(id)}`;

/** @type {Acts} */
export const DRILL_ACTS = {
  'dry-run': {
    run: async ({ api, set, focus }, { form }) => {
      const plan = textIn(form, 'plan');
      const domains = form.getAll('domain').map(String);
      set({ dryRun: undefined });
      /** @type {DrillPreview} */
      const preview = await api.post('/admin/drills/preview', { plan, domains });
      set({ dryRun: { plan, domains, preview } });
      focus('#dry-run-title');
      return undefined;
    },
  },
  'start-drill': {
    run: async ({ api, model, set, refresh, watch, focus }, { form }) => {
      const { dryRun } = model();
      if (dryRun === undefined) return undefined;
      const { plan, domains, preview } = dryRun;
      const reason = textIn(form, 'reason');
      const go = await askPerson({
        title: `Start ${plan} on ${domains.join(', ')}?`,
        go: 'Start the drill',
        isDanger: true,
        content: whatHappens(preview, reason),
      });
      if (go === undefined) return undefined;
      /** @type {Journal} */
      const journal = await api.post('/admin/drills', { plan, domains, reason });
      set({ dryRun: undefined });
      refresh('drills');
      watch(journal.id);
      focus('#watch');
      return `Started ${journal.id}.`;
    },
  },
  abort: {
    at: 'top',
    run: async ({ api, model, refresh }) => {
      const running = runningDrills(model());
      if (running.length === 0) return 'No drill runs.';
      await Promise.all(running.map(({ id }) => api.post(`${pathOf(id)}/abort`, { reason: 'aborted at the console' })));
      refresh('drills');
      return `Aborted, and the cache restored: ${running.map(({ title }) => title).join(', ')}.`;
    },
  },
  'abort-one': {
    at: 'top',
    run: async ({ api, refresh }, { id }) => {
      await api.post(`${pathOf(id)}/abort`, { reason: 'aborted at the console' });
      refresh('drills');
      return `Aborted, and the cache restored: ${id}.`;
    },
  },
  resume: {
    at: 'past',
    run: async ({ api, refresh, watch, focus }, { id }) => {
      const answer = await askPerson({
        title: 'Resume this drill?',
        go: 'Resume the drill',
        isDanger: true,
        content: [
          h('p', {}, `${id} goes on from the stage that was not finished, after a new baseline.`),
          reasonField('the guard was too tight'),
        ],
      });
      if (answer === undefined) return undefined;
      /** @type {Journal} */
      const journal = await api.post(`${pathOf(id)}/resume`, { reason: textIn(answer, 'reason') });
      refresh('drills');
      watch(journal.id);
      focus('#watch');
      return `Resumed as ${journal.id}.`;
    },
  },
  watch: {
    reads: true,
    run: async ({ watch, focus }, { id }) => {
      watch(id);
      focus('#watch');
      return undefined;
    },
  },
  report: {
    at: 'past',
    reads: true,
    run: async ({ api }, { id }) => {
      showReport(id, await api.text(`${pathOf(id)}/report`));
      return undefined;
    },
  },
};

/**
 * @param {DrillPreview} preview
 * @param {string} reason
 */
function whatHappens({ plan, domains, warnings }, reason) {
  const rollbacks = plan.guards
    .filter(({ then }) => then === 'rollback')
    .map(({ figure, max }) => `${GUARD_NAMES[figure]} above ${guardValue(figure, max)}`);
  return [
    h('p', {}, modeWords(plan)),
    h(
      'ul',
      { class: 'plain' },
      domains.map(({ domain, stages }) => {
        const extra = stages.at(-1)?.preview.engine.extraCallsPerSecond;
        const load =
          extra === undefined
            ? 'the engine gets an unknown number of extra calls'
            : `the engine gets up to ${rate(extra)} more calls a second`;
        return h('li', {}, h('b', {}, domain), `: ${plan.stages.map(stageTitle).join(' → ')}; ${load}.`);
      }),
      h(
        'li',
        {},
        `It takes at least ${stopwatch(planMs(plan) * domains.length)}; ${plannedPercent(plan.holdout)} of the keys are never touched.`,
      ),
      h(
        'li',
        {},
        rollbacks.length === 0
          ? 'No guard takes it back by itself.'
          : `Taken back by itself at ${rollbacks.join(', ')}.`,
      ),
      h('li', {}, `Reason: ${reason}`),
    ),
    warnings.length > 0 &&
      h(
        'ul',
        { class: 'notice warnings' },
        warnings.map((warning) => h('li', {}, warning)),
      ),
  ];
}
