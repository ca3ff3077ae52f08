import type { DrillPreview } from '../../../operations/drills/drills.ts';
import type { Journal } from '../../../operations/drills/journal.ts';
import { guardName, guardText, modeText, planDurationMs, stageTitles } from '../../../operations/drills/view.ts';
import { bullets } from '../../../report/components.ts';
import { amountText, durationText, percentText } from '../../../report/format.ts';
import { h } from '../../../report/tree.ts';
import type { ActionContext, Actions } from './actions.ts';
import { openDialog, requiredReason, showReport, textIn } from './dialogs.ts';
import { runningDrills } from './model.ts';

/** The operator's actions for drills: dry run, start, abort, resume, watch and report. */

const pathOf = (id: string) => `/admin/drills/${encodeURIComponent(id)}`;

export const DRILL_ACTIONS: Actions = {
  'dry-run': {
    run: async ({ api, set, focus }, { form }) => {
      const plan = textIn(form, 'plan');
      const domains = form.getAll('domain').map(String);
      set({ drillDryRun: undefined });
      const preview: DrillPreview = await api.post('/admin/drills/preview', { plan, domains });
      set({ drillDryRun: { plan, domains, preview } });
      focus('#dry-run-title');
    },
  },
  'start-drill': {
    run: async (context, { form }) => {
      const { drillDryRun } = context.model();
      if (drillDryRun === undefined) return;
      const { plan, domains, preview } = drillDryRun;
      const reason = textIn(form, 'reason');
      const answer = await openDialog({
        title: `Start ${plan} on ${domains.join(', ')}?`,
        submitLabel: 'Start the drill',
        isDanger: true,
        content: drillConsequences(preview, reason),
      });
      if (answer === undefined) return;
      const { id } = await context.api.post<Journal>('/admin/drills', { plan, domains, reason });
      context.set({ drillDryRun: undefined });
      showDrill(context, id);
      return `Started ${id}.`;
    },
  },
  /** The drill of the button, or all of them. */
  abort: {
    slot: 'header',
    run: async ({ api, model, refresh }, { id: chosen }) => {
      const running = runningDrills(model()).filter(({ id }) => chosen === '' || id === chosen);
      if (running.length === 0) return 'No drill runs.';
      await Promise.all(running.map(({ id }) => api.post(`${pathOf(id)}/abort`, { reason: 'aborted at the console' })));
      refresh('drills');
      return `Aborted, and the cache restored: ${running.map(({ title }) => title).join(', ')}.`;
    },
  },
  resume: {
    slot: 'drills',
    run: async (context, { id }) => {
      const answer = await openDialog({
        title: 'Resume this drill?',
        submitLabel: 'Resume the drill',
        isDanger: true,
        content: [
          h('p')(`${id} goes on from the stage that was not finished, after a new baseline.`),
          requiredReason('the guard was too tight'),
        ],
      });
      if (answer === undefined) return;
      const resumed = await context.api.post<Journal>(`${pathOf(id)}/resume`, { reason: textIn(answer, 'reason') });
      showDrill(context, resumed.id);
      return `Resumed as ${resumed.id}.`;
    },
  },
  watch: {
    readOnly: true,
    run: async ({ watch, focus }, { id }) => {
      watch(id);
      focus('#watch');
    },
  },
  report: {
    slot: 'drills',
    readOnly: true,
    run: async ({ api }, { id }) => {
      showReport(id, await api.text(`${pathOf(id)}/report`));
    },
  },
};

function showDrill({ refresh, watch, focus }: ActionContext, id: string) {
  refresh('drills');
  watch(id);
  focus('#watch');
}

function drillConsequences({ plan, domains, warnings }: DrillPreview, reason: string) {
  const rollbacks = plan.guards
    .filter(({ then }) => then === 'rollback')
    .map(({ figure, max }) => `${guardName(figure)} above ${guardText(figure, max)}`);
  return [
    h('p')(modeText(plan)),
    h('ul', { class: 'plain' })(
      domains.map(({ domain, stages }) => {
        const extra = stages.at(-1)?.preview.engine.extraCallsPerSecond;
        const load =
          extra === undefined
            ? 'the engine gets an unknown number of extra calls'
            : `the engine gets up to ${amountText(extra)} more calls a second`;
        return h('li')(h('b')(domain), `: ${stageTitles(plan).join(' → ')}; ${load}.`);
      }),
      h('li')(
        `It takes at least ${durationText(planDurationMs(plan) * domains.length)}; ${percentText(plan.holdout)} of the keys are never touched.`,
      ),
      h('li')(
        rollbacks.length === 0
          ? 'No guard takes it back by itself.'
          : `Taken back by itself at ${rollbacks.join(', ')}.`,
      ),
      h('li')(`Reason: ${reason}`),
    ),
    bullets(warnings, 'notice warnings'),
  ];
}
