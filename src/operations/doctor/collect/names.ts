import dns from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../runtime.ts';
import type { DnsFacts } from '../facts.ts';

interface NameReaderOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** As a connection resolves a name. @returns its addresses */
  readonly lookup?: (name: string) => Promise<readonly string[]>;
}

const MAX_NAMES = 16;
/**
 * getaddrinfo holds a thread, and libuv gives it two at a time. With more at once a name would be charged with the time in
 * which it waited for the others.
 */
const AT_ONCE = 2;
const LOOKUP_LIMIT_MS = 1000;
/** After this time no look-up begins any more; the names that are left get no facts. */
const BEGIN_LIMIT_MS = 500;

/** Times the resolution of names. A name whose look-up has no answer yet is not looked up again, because each holds a thread. */
export function createNameReader({ clock, lookup = addressesOf }: NameReaderOptions) {
  const running = new Set<string>();

  const timed = async (name: string): Promise<DnsFacts> => {
    if (running.has(name)) return { name, addresses: [], problem: 'an earlier look-up has no answer yet' };
    running.add(name);
    const startedMs = clock.monotonicMs();
    const looked = lookup(name)
      .then(
        (addresses): DnsFacts => ({ name, lookupMs: clock.monotonicMs() - startedMs, addresses }),
        (error): DnsFacts => ({ name, addresses: [], problem: codeOf(error) }),
      )
      .finally(() => running.delete(name));
    const answered = new AbortController();
    const late = sleep(LOOKUP_LIMIT_MS, undefined, { signal: answered.signal, ref: false }).then(
      (): DnsFacts => ({ name, addresses: [], problem: `no answer within ${LOOKUP_LIMIT_MS} ms` }),
      () => looked,
    );
    const facts = await Promise.race([looked, late]);
    answered.abort();
    return facts;
  };

  return async (names: readonly string[]): Promise<readonly DnsFacts[]> => {
    const startedMs = clock.monotonicMs();
    const found: DnsFacts[] = [];
    const waiting = names.slice(0, MAX_NAMES).values();
    const work = async (): Promise<void> => {
      for (const name of waiting) {
        if (clock.monotonicMs() - startedMs > BEGIN_LIMIT_MS) return;
        found.push(await timed(name));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return found.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
  };
}

function addressesOf(name: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    dns.lookup(name, { all: true }, (error, found) => {
      if (error === null) resolve(found.map(({ address }) => address));
      else reject(error);
    });
  });
}

function codeOf(error: unknown): string {
  if (error instanceof Error) return 'code' in error ? String(error.code) : error.message;
  return String(error);
}
