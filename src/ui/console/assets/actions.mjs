/**
 * The operator's actions: running an action, and the actions that halt, examine, flush, purge, suppress and warm up.
 * @typedef {import('./model.mjs').Model} Model
 * @typedef {import('./model.mjs').FlushBody} FlushBody
 *
 * @typedef {object} ActionContext The parts of the console that actions use.
 * @property {() => Model} model
 * @property {(part: Partial<Model>) => void} set
 * @property {import('./api.mjs').Api} api
 * @property {(...names: (keyof import('./api.mjs').FeedValues)[]) => void} refresh Reads these feeds at once.
 * @property {(id: string) => void} watch Shows this drill.
 * @property {(selector: string) => void} focus Focuses the element after the next drawing.
 *
 * @typedef {object} ActionRequest The button that was pressed, or the form that was sent.
 * @property {string} domain The domain that is shown.
 * @property {string} id The value of `data-id`; empty without it.
 * @property {FormData} form
 * @property {() => void} clear Empties the form that was sent.
 *
 * @typedef {object} Action
 * @property {string} [slot] The slot that shows the feedback; the action's own name by default.
 * @property {boolean} [readOnly] The action changes nothing in the service.
 * @property {(context: ActionContext, request: ActionRequest) => Promise<string | undefined>} run Returns the feedback,
 *   one sentence; undefined for none.
 * @typedef {Readonly<Record<string, Action>>} Actions
 *
 * @typedef {{ readonly revision: number, readonly generation: number }} Done
 * @typedef {Done & { readonly affected: { readonly note: string, readonly watch: readonly string[] } }} Flushed
 */

import { percentText } from '../../../report/format.mjs';
import { h } from '../../shared/tree.mjs';
import { asProblem, Problem } from './api.mjs';
import { domainField, openDialog, reasonField, textIn } from './dialogs.mjs';
import { capitalized, counted } from './view/format.mjs';

const CHANGES_ARE_OFF = 'Changes are off: the service has no token. Set ADMIN_TOKEN and start it again.';

/**
 * Runs an action, unless the same one is running, and shows its feedback in its slot.
 * @param {ActionContext} context
 * @param {Actions} actions
 * @param {string} name
 * @param {ActionRequest} request
 * @returns {Promise<void>}
 */
export async function perform(context, actions, name, request) {
  const action = actions[name];
  if (action === undefined || context.model().busy.includes(name)) return;
  const slot = action.slot ?? name;
  /** @param {import('./model.mjs').Feedback | undefined} feedback */
  const show = (feedback) => {
    const { [slot]: _, ...others } = context.model().feedback;
    context.set({ feedback: feedback === undefined ? others : { ...others, [slot]: feedback } });
  };
  if (context.model().readOnly && action.readOnly !== true) return show({ kind: 'refused', text: CHANGES_ARE_OFF });
  show(undefined);
  context.set({ busy: [...context.model().busy, name] });
  try {
    const text = await action.run(context, request);
    if (text !== undefined) show({ kind: 'done', text });
  } catch (error) {
    show({ kind: 'refused', text: asProblem(error).message });
  } finally {
    context.set({ busy: context.model().busy.filter((each) => each !== name) });
  }
}

/** @type {Actions} */
export const HALT_ACTIONS = {
  halt: {
    slot: 'header',
    run: async ({ api, refresh }) => {
      const answer = await openDialog({
        title: 'Halt all drills?',
        submitLabel: 'Halt all drills',
        isDanger: true,
        content: [
          h(
            'p',
            {},
            'Every drill of every domain stops and its cache is restored; every shadow ends. None starts until the halt is lifted.',
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
    slot: 'header',
    run: async ({ api, refresh }) => {
      const answer = await openDialog({
        title: 'Lift the halt?',
        submitLabel: 'Lift the halt',
        content: [
          h('p', {}, 'Drills may start again. Those that were stopped stay stopped until they are resumed.'),
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

/** @type {Actions} */
export const DOCTOR_ACTIONS = {
  examine: {
    readOnly: true,
    run: async ({ api, set, refresh }) => {
      /** @type {import('./model.mjs').Examination} */
      const { report } = await api.ask('/admin/doctor/examination');
      set({ examination: { report } });
      refresh('doctor');
      return undefined;
    },
  },
};

/** @type {Actions} */
export const CHANGE_ACTIONS = {
  'flush-preview': {
    run: async ({ api, set, focus }, { domain, form }) => {
      const request = flushIn(domain, form);
      if (request.mode === 'erase' && request.reason === undefined) {
        throw new Problem('reason-required', 'To erase, say why.');
      }
      set({ flushDryRun: undefined });
      const { mode, fraction, by } = request;
      /** @type {import('./api.mjs').FlushPreview} */
      const preview = await api.post('/admin/flush/preview', {
        domain,
        mode,
        fraction,
        ...(by === undefined ? {} : { by }),
      });
      // The service draws the first bucket of a range at random, unless the request names it. With the first bucket of
      // the preview, the flush takes the keys that the preview counted.
      const from = firstBucketOf(preview.ranges);
      const sameKeys = fraction === 1 || from === undefined ? request : { ...request, from };
      set({ flushDryRun: { request: sameKeys, preview } });
      focus('#flush-title');
      return undefined;
    },
  },
  flush: {
    slot: 'flush-preview',
    run: async ({ api, model, set, refresh }) => {
      const { flushDryRun } = model();
      if (flushDryRun === undefined) return undefined;
      const { request } = flushDryRun;
      const answer = await openDialog({
        title: `${capitalized(request.mode)} ${percentText(request.fraction)} of ${request.domain}?`,
        submitLabel: capitalized(request.mode),
        isDanger: true,
        content: flushConsequences(request),
      });
      if (answer === undefined) return undefined;
      /** @type {Flushed} */
      const { revision, generation, affected } = await api.post('/admin/flush', request);
      set({ flushDryRun: undefined });
      refresh('flush');
      return `Done: revision ${revision}, generation ${generation}. ${affectedText(affected)}`;
    },
  },
  purge: {
    run: async ({ api }, { domain, form, clear }) => {
      /** @type {Flushed & { readonly text: string }} */
      const { text, revision, affected } = await api.post('/admin/purge', {
        domain,
        q: textIn(form, 'q'),
        ...reasonIn(form),
      });
      clear();
      return `Purged “${text}”: revision ${revision}. ${affectedText(affected)}`;
    },
  },
  suppress: {
    run: async ({ api, refresh }, { domain, form, clear }) => {
      const ids = [
        ...new Set(
          textIn(form, 'ids')
            .split(/[\s,]+/)
            .filter((id) => id !== ''),
        ),
      ];
      /** @type {Done} */
      const { revision } = await api.post('/admin/suppress', { domain, ids, ...reasonIn(form) });
      clear();
      refresh('suppressed');
      return `Suppressed ${counted(ids.length, 'document')}: revision ${revision}.`;
    },
  },
  unsuppress: {
    slot: 'suppress',
    run: async ({ api, refresh }, { domain, id }) => {
      await api.post('/admin/unsuppress', { domain, ids: [id] });
      refresh('suppressed');
      return `${id} may be seen again.`;
    },
  },
  warm: {
    run: async ({ api, refresh }, { domain, form }) => {
      const [maxPerSecond, top] = [Number(textIn(form, 'maxPerSecond')), Number(textIn(form, 'top'))];
      /** @type {import('./api.mjs').WarmUp} */
      const { id } = await api.post('/admin/warm', { domain, from: 'popular', maxPerSecond, top });
      refresh('warm');
      return `Started ${id}.`;
    },
  },
  'stop-warm': {
    slot: 'warm',
    run: async ({ api, refresh }, { id }) => {
      await api.post(`/admin/warm/${encodeURIComponent(id)}/stop`);
      refresh('warm');
      return `Stopped ${id}.`;
    },
  },
};

/** @param {Flushed['affected']} affected */
function affectedText({ note, watch }) {
  return `${note} Watch ${watch.join(' and ')}.`;
}

/**
 * @param {string} domain
 * @param {FormData} form
 * @returns {FlushBody}
 */
function flushIn(domain, form) {
  const mode = /** @type {FlushBody['mode']} */ (textIn(form, 'mode'));
  const indexVersion = textIn(form, 'indexVersion');
  return {
    domain,
    mode,
    fraction: Number((Number(textIn(form, 'percent')) / 100).toFixed(6)),
    ...(mode === 'erase' ? { by: textIn(form, 'by') } : {}),
    ...(mode === 'refresh' && indexVersion !== '' ? { indexVersion } : {}),
    ...reasonIn(form),
  };
}

/** @param {FormData} form */
function reasonIn(form) {
  const reason = textIn(form, 'reason');
  return reason === '' ? {} : { reason };
}

/**
 * A range that wraps around after the last bucket comes as two parts. It begins with the part that ends at the last
 * bucket.
 * @param {readonly { readonly from: number, readonly to: number }[]} ranges
 */
function firstBucketOf(ranges) {
  return ranges.length > 1 ? ranges.find(({ to }) => to === 10_000)?.from : ranges[0]?.from;
}

/** @param {FlushBody} request */
function flushConsequences({ domain, mode, fraction, by }) {
  const consequence = {
    refresh: 'are served as stale until they are computed again',
    drop: 'are misses until they are computed again',
    erase: by === 'flushall' ? 'go, with everything else on the nodes of this store' : 'are removed from the store',
  };
  return [
    h(
      'p',
      {},
      `${percentText(fraction)} of the pages of ${domain} ${consequence[mode]}. This is for good: nothing brings them back.`,
    ),
    mode === 'erase' && domainField(domain),
  ];
}
