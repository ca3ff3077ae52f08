import { nearest } from '../../config/suggest.ts';
import type { Plan } from '../../drills/plan.ts';
import type { Words } from '../arguments.ts';
import type { AdminClient } from './client.ts';
import type { AdminProblem } from './problem.ts';

/** For a name that the service does not know: the one that was meant, when one of the words is near to a known one. */
export async function meant(problem: AdminProblem, words: Words, client: AdminClient): Promise<string | undefined> {
  try {
    const known = await knownNames(problem.code, client);
    for (const word of [...words.positionals, ...words.texts('domain')]) {
      if (known.includes(word)) continue;
      const name = nearest(word, known);
      if (name !== undefined) return `Did you mean ${name}?`;
    }
  } catch {
    // The problem itself has been told already.
  }
  return undefined;
}

async function knownNames(code: string, client: AdminClient): Promise<readonly string[]> {
  switch (code) {
    case 'unknown-domain':
      return (await client.get<{ domains: readonly { domain: string }[] }>('/admin/domains')).domains.map(
        ({ domain }) => domain,
      );
    case 'unknown-plan':
      return (await client.get<{ plans: readonly Plan[] }>('/admin/plans')).plans.map(({ name }) => name);
    default:
      return [];
  }
}
