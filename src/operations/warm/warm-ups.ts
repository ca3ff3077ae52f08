import { OperationError } from '../../control/operation-error.ts';
import type { Clock } from '../../runtime.ts';
import { createWarmRun, type WarmDomain, type WarmRun } from './run.ts';
import type { WarmEvent, WarmRequest, WarmUp } from './warm.ts';

interface WarmUpsOptions<Prepared> {
  /** By name. */
  readonly domains: ReadonlyMap<string, WarmUpDomain<Prepared>>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
  readonly observe: (event: WarmEvent) => void;
}

export interface WarmUpDomain<Prepared> extends WarmDomain<Prepared> {
  /** The `n` most popular searches, most popular first, as lines for `prepare`. */
  readonly popular: (n: number) => Promise<readonly string[]>;
}

/** Maximum number of taken and unfinished queries; the client keeps the rest. */
const MAX_WAITING = 2000;
const DEFAULT_TOP = 1000;
/** Number of warm-ups that are listed: the running ones and the latest ended ones. */
const REMEMBERED = 50;

/** Warm-ups: fill the cache of one domain in the background, with spare capacity of the engine only. */
export type WarmUps = ReturnType<typeof createWarmUps>;

export function createWarmUps<Prepared>(options: WarmUpsOptions<Prepared>) {
  const { domains, clock, random, observe } = options;
  /** In the order of their start. */
  const runs = new Map<string, StartedRun>();

  const domainOf = (name: string): WarmUpDomain<Prepared> => {
    const domain = domains.get(name);
    if (domain !== undefined) return domain;
    const known = [...domains.keys()].join(', ');
    throw new OperationError('unknown-domain', `domain must be one of: ${known}; it is "${name}"`, 'domain');
  };
  const find = (id: string): StartedRun => {
    const found = runs.get(id);
    if (found !== undefined) return found;
    throw new OperationError('unknown-warm-up', `there is no warm-up "${id}" in this process`);
  };
  const newId = (domain: string): string => {
    for (;;) {
      const id = `${domain}-${Math.floor(random() * 36 ** 6)
        .toString(36)
        .padStart(6, '0')}`;
      if (!runs.has(id)) return id;
    }
  };

  const remember = (id: string, request: WarmRequest, run: WarmRun): void => {
    runs.set(id, { request, run });
    for (const [old, { run: oldRun }] of runs) {
      if (runs.size <= REMEMBERED) return;
      if (oldRun.isOver()) runs.delete(old);
    }
  };

  const fill = async (run: WarmRun, domain: WarmUpDomain<Prepared>, top: number): Promise<void> => {
    try {
      run.take(await domain.popular(top), true);
    } catch (error) {
      run.stop(`the popular queries could not be read: ${String(error)}`);
    }
  };

  return {
    /** A domain has at most one at a time. @throws OperationError warm-up-running, unknown-domain */
    start: (request: WarmRequest) => {
      const domain = domainOf(request.domain);
      if (request.top !== undefined && request.from !== 'popular') {
        throw new OperationError('invalid-request', 'top goes with from: popular', 'top');
      }
      const running = [...runs.values()].find(
        ({ request: { domain: name }, run }) => name === request.domain && !run.isOver(),
      );
      if (running !== undefined) {
        const { id } = running.run.look();
        throw new OperationError(
          'warm-up-running',
          `warm-up ${id} of ${request.domain} runs: stop it or wait for its end`,
        );
      }
      const id = newId(request.domain);
      const { top = DEFAULT_TOP } = request;
      const fromPopular = request.from === 'popular';
      const run = createWarmRun({
        id,
        request,
        domain,
        clock,
        maxWaiting: fromPopular ? top : MAX_WAITING,
        onEnd: (warmUp, detail) => observe({ kind: 'warm-up-ended', warmUp, detail }),
      });
      remember(id, request, run);
      observe({ kind: 'warm-up-started', warmUp: run.look() });
      if (fromPopular) void fill(run, domain, top);
      return run.look();
    },
    /**
     * Adds queries to a warm-up `from: 'queries'`. Takes as many as fit and returns their number; the caller sends the rest
     * later. `last`: these are the last ones. @throws OperationError unknown-warm-up, invalid-request
     */
    feed: (id: string, queries: readonly string[], last: boolean) => {
      const { request, run } = find(id);
      if (request.from !== 'queries') {
        throw new OperationError('invalid-request', `warm-up ${id} takes what is popular, and no queries`);
      }
      if (!run.isOver() && !run.takesMore() && queries.length > 0) {
        throw new OperationError('invalid-request', `warm-up ${id} was told that no more queries would come`);
      }
      return { taken: run.take(queries, last), warmUp: run.look() };
    },
    /** @throws OperationError unknown-warm-up */
    stop: (id: string) => {
      const { run } = find(id);
      run.stop();
      return run.look();
    },
    list: () => [...runs.values()].map(({ run }): WarmUp => run.look()).reverse(),
    close: () => {
      for (const { run } of runs.values()) run.stop('the process ends');
    },
  };
}

interface StartedRun {
  readonly request: WarmRequest;
  readonly run: WarmRun;
}
