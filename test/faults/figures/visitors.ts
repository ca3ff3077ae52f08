import { createClient } from '../../../loadtest/traffic/client.ts';
import { personOf, targetOf } from '../bed.ts';
import { HUNG_MS } from '../configuration.ts';
import type { Reference } from '../reference.ts';
import { type Verdict, verdictOf } from '../verdict.ts';

/**
 * Visitors who ask in volleys, over connections they keep: whoever has his last answer asks with all the others in the
 * same moment, of any process. That is what one flight per key is for: evenly spread, most would find the page there.
 */
export interface Visitors {
  readonly ask: (on: boolean) => void;
  readonly counts: () => VisitorCounts;
  readonly resetCounts: () => void;
  /** Resolves when the last answer has come. */
  readonly stop: () => Promise<void>;
}

export interface VisitorCounts {
  readonly pages: number;
  /** Refused in words. */
  readonly refused: number;
  /** Nobody listened, or the connection ended: the visitor asks the same in the next volley. */
  readonly turnedAway: number;
  /** What may never be: another page than the engine's, none at all, or an answer nobody can act on. */
  readonly faults: readonly string[];
}

export interface VisitorsOptions {
  readonly urls: readonly string[];
  readonly count: number;
  readonly intervalMs: number;
  readonly text: () => string;
  readonly random: () => number;
  readonly reference: Reference;
}

const NOTHING = { pages: 0, refused: 0, turnedAway: 0 };
const MOST_FAULTS = 20;

export function startVisitors(options: VisitorsOptions): Visitors {
  const { urls, text, random, reference } = options;
  const clients = urls.map((baseUrl) => createClient({ baseUrl, boundMs: HUNG_MS, maxConnections: options.count }));
  const waiting = new Map<number, Promise<void>>();
  /** What a visitor still wants who was turned away. */
  const wanted = new Map<number, string>();
  let tally = NOTHING;
  let faults: string[] = [];
  let asking = false;

  const note = (visitor: number, asked: string, verdict: Verdict): void => {
    const count = (what: keyof typeof NOTHING): void => {
      tally = { ...tally, [what]: tally[what] + 1 };
    };
    const blame = (why: string): void => {
      if (faults.length < MOST_FAULTS) faults.push(`${asked}: ${why}`);
    };
    switch (verdict.kind) {
      case 'page':
        count('pages');
        if (reference.agrees(asked, verdict) !== true) blame("not the engine's page");
        break;
      case 'shed':
        count('refused');
        break;
      case 'broken':
        wanted.set(visitor, asked);
        count('turnedAway');
        break;
      case 'dishonest':
        blame(verdict.why);
        break;
      case 'hung':
        blame('no answer');
        break;
    }
  };
  const visit = async (visitor: number): Promise<void> => {
    const asked = wanted.get(visitor) ?? text();
    wanted.delete(visitor);
    const client = clients[Math.floor(random() * clients.length)];
    if (client === undefined) throw new Error('visitors without a process');
    note(visitor, asked, verdictOf(await client.get(targetOf(asked), personOf(visitor)), asked));
  };
  const volley = (): void => {
    if (!asking) return;
    for (let visitor = 0; visitor < options.count; visitor += 1) {
      if (waiting.has(visitor)) continue;
      const visited = visit(visitor).finally(() => waiting.delete(visitor));
      waiting.set(visitor, visited);
    }
  };
  const timer = setInterval(volley, options.intervalMs);

  return {
    ask: (on) => {
      asking = on;
    },
    counts: () => ({ ...tally, faults }),
    resetCounts: () => {
      tally = NOTHING;
      faults = [];
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all(waiting.values());
      for (const client of clients) client.close();
    },
  };
}
