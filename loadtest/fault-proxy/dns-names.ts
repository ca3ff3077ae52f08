import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The result of a look-up: addresses, addresses after a time, an error of the resolver, or silence (a resolver that does
 * not answer).
 */
type DnsAnswer =
  | readonly string[]
  | { readonly afterMs: number; readonly addresses: readonly string[] }
  | 'ENOTFOUND'
  | 'EAI_AGAIN'
  | 'silence';

export type DnsNames = ReturnType<typeof createDnsNames>;

/**
 * Names of a test, resolved without the machine's resolver in processes started with `nodeOptions`. They are kept in a file
 * in `directory`; dns.mjs reads it there.
 */
export function createDnsNames(directory: string) {
  const file = join(directory, 'names.json');
  const names: Record<string, DnsAnswer> = {};
  const write = (): void => {
    // Renamed in one step, because a process may read it at any moment.
    writeFileSync(`${file}.next`, JSON.stringify(names));
    renameSync(`${file}.next`, file);
  };
  write();
  const module = pathToFileURL(join(import.meta.dirname, 'dns.mjs'));
  module.searchParams.set('names', file);
  return {
    /** For the environment of a Node process: `NODE_OPTIONS`. */
    nodeOptions: `--import=${module.href}`,
    /** Takes effect at the next look-up, in all of these processes. @throws for a name that may exist. */
    set: (name: string, answer: DnsAnswer): void => {
      if (!name.endsWith('.test')) throw new Error(`${name} may be somebody's name: those of tests end in .test`);
      names[name] = answer;
      write();
    },
  };
}
