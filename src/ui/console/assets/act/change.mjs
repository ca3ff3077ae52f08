import { h } from '../../../page/assets/view/tree.mjs';
import { Problem } from '../data/problem.mjs';
import { askPerson, textIn } from '../dialog.mjs';
import { titled } from '../view/flush.mjs';
import { counted, plannedPercent } from '../view/format.mjs';

/**
 * @typedef {import('./desk.mjs').Acts} Acts
 * @typedef {import('../data/model.mjs').FlushBody} FlushBody
 * @typedef {{ readonly revision: number, readonly generation: number }} Done
 * @typedef {Done & { readonly affected: { readonly note: string, readonly watch: readonly string[] } }} Flushed
 */

/** @type {Acts} */
export const CHANGE_ACTS = {
  'flush-preview': {
    run: async ({ api, set, focus }, { domain, form }) => {
      const ask = flushIn(domain, form);
      if (ask.mode === 'erase' && ask.reason === undefined) throw new Problem('reason-required', 'To erase, say why.');
      set({ flushRun: undefined });
      const { mode, fraction, by } = ask;
      /** @type {import('../data/shapes.mjs').FlushPreview} */
      const preview = await api.post('/admin/flush/preview', {
        domain,
        mode,
        fraction,
        ...(by === undefined ? {} : { by }),
      });
      // The same keys as those that were counted: where a range begins is drawn anew at each asking, unless one says it.
      const from = beginningOf(preview.ranges);
      set({ flushRun: { ask: fraction === 1 || from === undefined ? ask : { ...ask, from }, preview } });
      focus('#flush-title');
      return undefined;
    },
  },
  flush: {
    run: async ({ api, model, set, refresh }) => {
      const run = model().flushRun;
      if (run === undefined) return undefined;
      const { ask } = run;
      const answer = await askPerson({
        title: `${titled(ask.mode)} ${plannedPercent(ask.fraction)} of ${ask.domain}?`,
        go: titled(ask.mode),
        isDanger: true,
        content: whatGoes(ask),
      });
      if (answer === undefined) return undefined;
      /** @type {Flushed} */
      const { revision, generation, affected } = await api.post('/admin/flush', ask);
      set({ flushRun: undefined });
      refresh('flush');
      return `Done: revision ${revision}, generation ${generation}. ${affectedWords(affected)}`;
    },
    at: 'flush-preview',
  },
  purge: {
    run: async ({ api }, { domain, form, clear }) => {
      /** @type {Flushed & { readonly text: string }} */
      const { text, revision, affected } = await api.post('/admin/purge', {
        domain,
        q: textIn(form, 'q'),
        ...reasonOf(form),
      });
      clear();
      return `Purged “${text}”: revision ${revision}. ${affectedWords(affected)}`;
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
      const { revision } = await api.post('/admin/suppress', { domain, ids, ...reasonOf(form) });
      clear();
      refresh('suppressed');
      return `Suppressed ${counted(ids.length, 'document')}: revision ${revision}.`;
    },
  },
  unsuppress: {
    at: 'suppress',
    run: async ({ api, refresh }, { domain, id }) => {
      await api.post('/admin/unsuppress', { domain, ids: [id] });
      refresh('suppressed');
      return `${id} may be seen again.`;
    },
  },
  warm: {
    run: async ({ api, refresh }, { domain, form }) => {
      const [maxPerSecond, top] = [Number(textIn(form, 'maxPerSecond')), Number(textIn(form, 'top'))];
      /** @type {import('../data/shapes.mjs').WarmUp} */
      const { id } = await api.post('/admin/warm', { domain, from: 'popular', maxPerSecond, top });
      refresh('warm');
      return `Started ${id}.`;
    },
  },
  'stop-warm': {
    at: 'warm',
    run: async ({ api, refresh }, { id }) => {
      await api.post(`/admin/warm/${encodeURIComponent(id)}/stop`);
      refresh('warm');
      return `Stopped ${id}.`;
    },
  },
};

/** @param {Flushed['affected']} affected */
function affectedWords({ note, watch }) {
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
    ...reasonOf(form),
  };
}

/** @param {FormData} form */
function reasonOf(form) {
  const reason = textIn(form, 'reason');
  return reason === '' ? {} : { reason };
}

/**
 * A range that goes over the last bucket comes as two: it begins with the one that ends there.
 * @param {readonly { readonly from: number, readonly to: number }[]} ranges
 */
function beginningOf(ranges) {
  return ranges.length > 1 ? ranges.find(({ to }) => to === 10_000)?.from : ranges[0]?.from;
}

/** @param {FlushBody} ask */
function whatGoes({ domain, mode, fraction, by }) {
  const what = {
    refresh: 'are served as stale until they are computed anew',
    drop: 'are misses until they are computed anew',
    erase: by === 'flushall' ? 'go, with everything else on the nodes of this store' : 'are removed from the store',
  };
  return [
    h(
      'p',
      {},
      `${plannedPercent(fraction)} of the pages of ${domain} ${what[mode]}. This is for good: nothing brings them back.`,
    ),
    mode === 'erase' &&
      h(
        'label',
        {},
        `Type ${domain} to go on`,
        h('input', {
          name: 'typed',
          required: true,
          autocomplete: 'off',
          spellcheck: 'false',
          pattern: domain.replaceAll(/[^\w]/g, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`),
          title: `The name of the domain: ${domain}`,
        }),
      ),
  ];
}
