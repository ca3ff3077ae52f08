import type { Change } from '../../src/changes/change.ts';
import { summaryOf } from '../../src/control/control.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import { createFeed } from '../../src/operations/feed/feed.ts';
import { auditFigures } from '../../src/operations/meter/figures.ts';
import type { DomainLook, DomainOperations, Operations } from '../../src/operations/operations.ts';
import type { Clock } from '../../src/runtime.ts';
import { canonicalText } from '../../src/search/canonical.ts';
import type { Engine } from '../../src/search/engine.ts';
import { InvalidSearch } from '../../src/search/query.ts';
import { createFakeControl, createFakeFlush, figuresAt } from './operations-control.ts';
import { createFakeDoctor } from './operations-doctor.ts';
import { createFakeDrills } from './operations-drills.ts';
import { createFakeShadows } from './operations-shadow.ts';
import { createFakeWarmUps } from './operations-warm.ts';
import { FAKE_FEED, fakeStatus } from './status.ts';

const updateNothing: NonNullable<Engine['update']> = async (updates) =>
  updates.map(({ id, document }) => ({ id, after: document }));

const POPULAR = ['q=кроссовки', 'q=iphone+13', 'q=диван&page=2', 'q=велосипед&sort=-price', 'q=коляска'];

/** Operations that remember requests and show the figures of a busy service, without any search. */
export function createFakeOperations(options: {
  readonly clock: Clock;
  readonly domains?: readonly string[];
  /** Takes the changes of `goods`; the other domains have no feed. */
  readonly publish?: (changes: readonly Change[]) => Promise<void>;
  /** The index of `goods`; without it, one that holds nothing before an update. */
  readonly update?: NonNullable<Engine['update']>;
}): Operations {
  const { clock, domains = ['goods', 'auto'], publish = async () => {}, update = updateNothing } = options;
  const controls = new Map(domains.map((name) => [name, createFakeControl()]));
  const drills = createFakeDrills({ controls, clock });
  const byName = new Map(
    [...controls].map(([name, control]): [string, DomainOperations] => [
      name,
      {
        control,
        feed: createFeed({
          domain: name,
          attributes: [],
          ...(name === 'goods'
            ? { changes: { publish, indexReplaced: () => {} }, update }
            : { changes: undefined, update: undefined }),
        }),
        flush: createFakeFlush(control, clock),
        pagesOf: (typed) => {
          const text = canonicalText(typed);
          if (text === '' || text.length > 256) throw new InvalidSearch('invalid-query', 'q', '1 to 256 characters.');
          return { text, canonicalStart: `${name}@fake?q=${text}`, firstStoreName: `sc1:${name}:{fake}` };
        },
        popular: async (n) => ({
          source: 'process',
          queries: POPULAR.slice(0, n).map((search, i) => ({ search, count: Math.round(1200 / (i + 1)) })),
        }),
      },
    ]),
  );

  const lookAt = (domain: string, operations: DomainOperations, seconds: number | undefined): DomainLook => {
    return {
      domain,
      figures: seconds === undefined ? undefined : figuresAt(clock.monotonicMs(), seconds),
      status: fakeStatus(domain),
      control: summaryOf(operations.control),
      changes: {
        ...FAKE_FEED,
        perSecond: seconds === undefined ? undefined : 12,
        pages: { changed: 30, entered: 4 },
        audit: auditFigures({ equal: 999, changed: 1 }),
      },
    };
  };

  return {
    domains,
    domain: (name) => {
      const found = byName.get(name);
      if (found !== undefined) return found;
      const known = domains.join(', ');
      throw new OperationError('unknown-domain', `There is no domain ${name}; there are ${known}.`, '/domain');
    },
    drills,
    shadows: createFakeShadows({ clock, domains, controls }),
    doctor: createFakeDoctor({ clock }),
    warm: createFakeWarmUps({ clock }),
    watch: () => {
      let lastMs: number | undefined;
      return {
        look: () => {
          const nowMs = clock.monotonicMs();
          const seconds = lastMs === undefined ? undefined : Math.max(0.001, (nowMs - lastMs) / 1000);
          lastMs = nowMs;
          return [...byName].map(([name, operations]) => lookAt(name, operations, seconds));
        },
      };
    },
  };
}
