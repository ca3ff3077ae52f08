import type { Lab } from '../../kit/lab.ts';
import type { Peer } from '../peer.ts';

/** Undefined when the work failed: one peer that cannot do something is a row that says so, and the others go on. */
export type Try = <T>(peer: Peer, what: string, work: () => Promise<T>) => Promise<T | undefined>;

export interface Tries {
  readonly attempt: Try;
  /** What failed, in sentences. */
  readonly problemsOf: (peer: Peer) => readonly string[];
}

/**
 * @param hasTime false: whatever is left is not begun, so that what was measured is not lost with it.
 * @throws out of `attempt` only when the lab was told to stop.
 */
export function createTries({ say, signal }: Pick<Lab, 'say' | 'signal'>, hasTime: () => boolean): Tries {
  const problems = new Map<Peer, string[]>();
  return {
    problemsOf: (peer) => problems.get(peer) ?? [],
    attempt: async (peer, what, work) => {
      signal.throwIfAborted();
      try {
        if (!hasTime()) throw new Error('no time was left on this machine');
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        const problem = `${what}: ${error instanceof Error ? error.message : error}`;
        say(`${peer.name}: ${problem}`);
        problems.set(peer, [...(problems.get(peer) ?? []), problem]);
        return undefined;
      }
    },
  };
}
