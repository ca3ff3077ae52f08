import type { FlushAnswer, PurgeAnswer, SuppressAnswer } from '../../../operations/flush/answers.ts';
import type { FlushPreview } from '../../../operations/flush/flush.ts';
import type { WarmUp } from '../../../operations/warm/warm.ts';
import { capitalized } from '../../../report/components.ts';
import { percentText, plural } from '../../../report/format.ts';
import { h } from '../../../report/tree.ts';
import type { Actions } from './actions.ts';
import { ApiProblem } from './api.ts';
import { domainField, openDialog, reasonIn, requiredReason, textIn } from './dialogs.ts';
import type { FlushBody } from './model.ts';

/** The halt of all drills, and the changes of a cache: flushes, purges, suppressions and warm-ups. */

export const HALT_ACTIONS: Actions = {
  halt: {
    slot: 'header',
    run: async ({ api, refresh }) => {
      const answer = await openDialog({
        title: 'Halt all drills?',
        submitLabel: 'Halt all drills',
        isDanger: true,
        content: [
          h('p')(
            'Every drill of every domain stops and its cache is restored; every shadow ends. None starts until the halt is lifted.',
          ),
          requiredReason('incident 4711'),
        ],
      });
      if (answer === undefined) return;
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
          h('p')('Drills may start again. Those that were stopped stay stopped until they are resumed.'),
          requiredReason('incident 4711 is over'),
        ],
      });
      if (answer === undefined) return;
      await api.post('/admin/halt/lift', { reason: textIn(answer, 'reason') });
      refresh('halt');
      return 'The halt is lifted.';
    },
  },
};

export const CHANGE_ACTIONS: Actions = {
  'flush-preview': {
    run: async ({ api, set, focus }, { domain, form }) => {
      const request = flushIn(domain, form);
      if (request.mode === 'erase' && request.reason === undefined) {
        throw new ApiProblem('reason-required', 'To erase, say why.');
      }
      set({ flushDryRun: undefined });
      const { mode, fraction, by } = request;
      const preview: FlushPreview = await api.post('/admin/flush/preview', { domain, mode, fraction, by });
      // The service draws the first bucket of a range at random, unless the request names it. With the first bucket of
      // the preview, the flush takes the keys that the preview counted.
      const from = firstBucketOf(preview.ranges);
      const sameKeys = fraction === 1 || from === undefined ? request : { ...request, from };
      set({ flushDryRun: { request: sameKeys, preview } });
      focus('#flush-title');
    },
  },
  flush: {
    slot: 'flush-preview',
    run: async ({ api, model, set, refresh }) => {
      const { flushDryRun } = model();
      if (flushDryRun === undefined) return;
      const { request } = flushDryRun;
      const answer = await openDialog({
        title: `${capitalized(request.mode)} ${percentText(request.fraction)} of ${request.domain}?`,
        submitLabel: capitalized(request.mode),
        isDanger: true,
        content: flushConsequences(request),
      });
      if (answer === undefined) return;
      const { revision, generation, affected } = await api.post<FlushAnswer>('/admin/flush', request);
      set({ flushDryRun: undefined });
      refresh('flush');
      return `Done: revision ${revision}, generation ${generation}. ${affectedText(affected)}`;
    },
  },
  purge: {
    run: async ({ api }, { domain, form, clear }) => {
      const { text, revision, affected } = await api.post<PurgeAnswer>('/admin/purge', {
        domain,
        q: textIn(form, 'q'),
        reason: reasonIn(form),
      });
      clear();
      return `Purged “${text}”: revision ${revision}. ${affectedText(affected)}`;
    },
  },
  suppress: {
    run: async ({ api, refresh }, { domain, form, clear }) => {
      const ids = [...new Set(textIn(form, 'ids').match(/[^\s,]+/g))];
      const { revision } = await api.post<SuppressAnswer>('/admin/suppress', { domain, ids, reason: reasonIn(form) });
      clear();
      refresh('suppressed');
      return `Suppressed ${plural(ids.length, 'document')}: revision ${revision}.`;
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
      const { id } = await api.post<WarmUp>('/admin/warm', { domain, from: 'popular', maxPerSecond, top });
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

function affectedText({ note, watch }: Pick<FlushAnswer['affected'], 'note' | 'watch'>) {
  return `${note} Watch ${watch.join(' and ')}.`;
}

function flushIn(domain: string, form: FormData): FlushBody {
  const mode = textIn(form, 'mode') as FlushBody['mode'];
  const indexVersion = textIn(form, 'indexVersion');
  return {
    domain,
    mode,
    fraction: Number((Number(textIn(form, 'percent')) / 100).toFixed(6)),
    by: mode === 'erase' ? (textIn(form, 'by') as FlushBody['by']) : undefined,
    indexVersion: mode === 'refresh' && indexVersion !== '' ? indexVersion : undefined,
    reason: reasonIn(form),
  };
}

/**
 * A range that wraps around after the last bucket comes as two parts. It begins with the part that ends at the last
 * bucket.
 */
function firstBucketOf(ranges: readonly { readonly from: number; readonly to: number }[]) {
  return ranges.length > 1 ? ranges.find(({ to }) => to === 10_000)?.from : ranges[0]?.from;
}

function flushConsequences({ domain, mode, fraction, by }: FlushBody) {
  const consequence = {
    refresh: 'are served as stale until they are computed again',
    drop: 'are misses until they are computed again',
    erase: by === 'flushall' ? 'go, with everything else on the nodes of this store' : 'are removed from the store',
  };
  return [
    h('p')(
      `${percentText(fraction)} of the pages of ${domain} ${consequence[mode]}. This is for good: nothing brings them back.`,
    ),
    mode === 'erase' && domainField(domain),
  ];
}
