import { fingerprint } from '../../src/cache/codec.ts';
import type { ChangeEvent } from '../../src/changes/feed.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { prepareSearch } from '../../src/search/key.ts';

export const DOMAIN: SearchDomain = {
  name: 'goods',
  attributes: [
    { name: 'city', type: 'string', facet: true, sort: false },
    { name: 'price', type: 'integer', facet: false, sort: true },
  ],
  context: [],
  answerProfile: 'x',
};

export const searchFor = (...pairs: (readonly [string, string])[]) => prepareSearch({ pairs }, [DOMAIN]);

export const idsOf = (...ids: string[]): number[] => ids.map(fingerprint);

/** The kinds of events that an operator hears of. */
export const onlyKinds = (events: readonly ChangeEvent[]): string[] =>
  events.flatMap(({ kind }) => (kind === 'changes-applied' || kind === 'page-changed' ? [] : [kind]));
