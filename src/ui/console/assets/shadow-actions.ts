import type { Moved, ShadowSummary, Stopped } from '../../../operations/shadow/shadow.ts';
import { shadowVerdict } from '../../../operations/shadow/view.ts';
import { durationText, plural } from '../../../report/format.ts';
import { h } from '../../../report/tree.ts';
import type { ActionContext, Actions } from './actions.ts';
import { ApiProblem } from './api.ts';
import { domainField, openDialog, optionalReason, reasonIn, requiredReason, showReport, textIn } from './dialogs.ts';
import { shadowStatus } from './model.ts';
import { choiceField, numberField } from './view/components.ts';
import { startableStores } from './view/shadow.ts';

/** The operator's actions for shadow traffic: start, change, stop, cut-over, the way back, and reports. */

const SLOT = 'shadow';
const FORCE = { type: 'checkbox', name: 'force', required: true };

export const SHADOW_ACTIONS: Actions = {
  'shadow-start': {
    slot: SLOT,
    run: async (context, { domain }) => {
      const stores = startableStores(statusIn(context));
      const answer = await openDialog({
        title: `Start a shadow of ${domain}?`,
        submitLabel: 'Start the shadow',
        content: [
          h('p')('Reads and writes of the sampled keys are copied to the candidate. No answer to a user waits for it.'),
          h('label')(
            'Candidate',
            h('select', { name: 'candidate', required: true })(
              stores.map(({ name }) => h('option', { value: name })(name)),
            ),
          ),
          ...copyFields(0.1, 1),
          numberField('Hours until it ends by itself', { name: 'hours', min: '0.1', max: '720', step: '0.1' }, 24),
          optionalReason(),
        ],
      });
      if (answer === undefined) return;
      const candidate = textIn(answer, 'candidate');
      const hours = Number(textIn(answer, 'hours'));
      await context.api.post('/admin/shadow', {
        domain,
        candidate,
        ...copiesIn(answer),
        hours,
        reason: reasonIn(answer),
      });
      refresh(context);
      return `The shadow of ${domain} to ${candidate} has begun.`;
    },
  },
  'shadow-change': {
    slot: SLOT,
    run: async (context, { domain }) => {
      const { shadow } = statusIn(context);
      if (shadow === undefined) return 'The shadow has ended.';
      const answer = await openDialog({
        title: `Change the shadow of ${domain}?`,
        submitLabel: 'Change it',
        content: [...copyFields(shadow.fraction, shadow.reads), optionalReason()],
      });
      if (answer === undefined) return;
      await context.api.post('/admin/shadow/change', { domain, ...copiesIn(answer), reason: reasonIn(answer) });
      refresh(context);
      return 'Changed.';
    },
  },
  'shadow-stop': {
    slot: SLOT,
    run: async (context, { domain }) => {
      const { consequence, ...words } = stopWords(statusIn(context));
      const content = [h('p')(consequence), optionalReason()];
      const answer = await openDialog({ ...words, content, isDanger: true });
      if (answer === undefined) return;
      const { ended, report } = await context.api.post<Stopped>('/admin/shadow/stop', {
        domain,
        reason: reasonIn(answer),
      });
      refresh(context);
      const results = {
        shadow: `The shadow has ended; its report is ${report ?? 'not kept'}.`,
        preparation: 'The cut-over is cancelled; nothing has moved.',
        'old-store': 'The old store is no longer used.',
      };
      return results[ended];
    },
  },
  'cut-over': {
    slot: SLOT,
    run: async (context, { domain }) => {
      const { shadow, active, verdict } = statusIn(context);
      if (shadow === undefined) return 'The shadow has ended.';
      const { verdictSeconds } = context.model();
      const isFavourable = verdict?.kind === 'cut-over';
      const answer = await openDialog({
        title: `Cut ${domain} over from ${active.name} to ${shadow.candidate.name}?`,
        submitLabel: 'Cut over',
        isDanger: true,
        content: [
          h('p')(
            `When every process has agreed, ${shadow.candidate.name} is read first and holds the leases. Where it has no page, ${active.name} is still read, and both are written: the way back loses nothing.`,
          ),
          h('p', { class: isFavourable ? 'soft' : 'notice' })(
            verdict === undefined
              ? 'There is no verdict yet.'
              : [h('b')('Verdict: ', shadowVerdict(verdict.kind).word, '. '), verdict.why],
          ),
          !isFavourable && choiceField(FORCE, 'force', 'Cut over without a favourable verdict'),
          requiredReason('as full and as fast for a day'),
          domainField(domain),
        ],
      });
      if (answer === undefined) return;
      const moved: Moved = await context.api.post('/admin/shadow/cut-over', {
        domain,
        force: answer.get('force') === null ? undefined : true,
        for: verdictSeconds,
        reason: textIn(answer, 'reason'),
      });
      refresh(context);
      return movedText(moved);
    },
  },
  'cut-over-back': {
    slot: SLOT,
    run: async (context, { domain }) => {
      const { placement, active } = statusIn(context);
      const old = placement?.other?.name ?? 'the store before';
      const answer = await openDialog({
        title: `Return ${domain} to ${old}?`,
        submitLabel: `Return to ${old}`,
        isDanger: true,
        content: [
          h('p')(`${old} is read first again. It has every page that was written since; ${active.name} stays in use.`),
          requiredReason('the new store is slow at noon'),
        ],
      });
      if (answer === undefined) return;
      const moved: Moved = await context.api.post('/admin/shadow/back', { domain, reason: textIn(answer, 'reason') });
      refresh(context);
      return movedText(moved);
    },
  },
  'verdict-time': {
    slot: SLOT,
    readOnly: true,
    run: async ({ set, refresh: read }, { id }) => {
      set({ verdictSeconds: Number(id) });
      read('shadowStatus');
    },
  },
  'shadow-report': {
    slot: 'shadow-reports',
    readOnly: true,
    run: async ({ api }, { id }) => {
      showReport(id, await api.text(`/admin/shadow/reports/${encodeURIComponent(id)}/report`));
    },
  },
};

function refresh({ refresh: read }: ActionContext) {
  read('shadows', 'shadowStatus', 'shadowReports');
}

/** The state that the operator has seen. */
function statusIn({ model }: ActionContext) {
  const status = shadowStatus(model());
  if (status === undefined) throw new ApiProblem('unknown', 'The state of the stores is not known yet.');
  return status;
}

function copyFields(fraction: number, reads: number) {
  const percent = String(Number((fraction * 100).toFixed(4)));
  return [
    numberField('Percent of the keys', { name: 'percent', min: '0.01', max: '100', step: 'any' }, percent),
    numberField('Copies of each read', { name: 'reads', min: '1', max: '5' }, reads),
  ];
}

function copiesIn(form: FormData) {
  return {
    fraction: Number((Number(textIn(form, 'percent')) / 100).toFixed(6)),
    reads: Number(textIn(form, 'reads')),
  };
}

function stopWords({ domain, shadow, placement, active }: ShadowSummary) {
  const other = placement?.other?.name ?? 'the old store';
  if (placement?.phase === 'prepared') {
    const consequence = `${active.name} stays the store, and ${other} is no longer written.`;
    return { title: `Cancel the cut-over of ${domain}?`, submitLabel: 'Cancel the cut-over', consequence };
  }
  if (placement?.phase === 'committed') {
    const consequence = `${other} is no longer read or written. Its pages that ${active.name} does not have are lost, and there is no way back.`;
    return { title: `Stop using ${other} for ${domain}?`, submitLabel: `Stop using ${other}`, consequence };
  }
  if (shadow === undefined) {
    const consequence = 'Every process then follows its own configuration again. It is refused while they differ.';
    return { title: `Forget the cut-over of ${domain}?`, submitLabel: 'Forget it', consequence };
  }
  const consequence = 'The copies end and the report is kept.';
  return { title: `Stop the shadow of ${domain}?`, submitLabel: 'Stop the shadow', consequence };
}

function movedText({ domain, from, to, preparedMs, processes }: Moved) {
  const behind = processes.filter(({ state }) => state === 'behind').map(({ id }) => id);
  const followers =
    behind.length === 0
      ? `${plural(processes.length, 'process follows', 'processes follow')}.`
      : `Not yet followed by ${behind.join(', ')}.`;
  const took = preparedMs > 0 ? ` after ${durationText(preparedMs)}` : '';
  return `${to.name} is the store of ${domain}${took}; ${from.name} is still read and written. ${followers}`;
}
