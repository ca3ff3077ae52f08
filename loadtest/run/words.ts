import { parseArgs } from 'node:util';
import { nearest } from '../../src/config/suggest.ts';
import type { OptionEntry } from './options.ts';

/** A command line taken apart by the table of options: what each word is, not yet what it means. */
export interface Words {
  readonly values: Readonly<Record<string, string | true | undefined>>;
  readonly positionals: readonly string[];
  readonly faults: string[];
}

/** Node's own strictness ends at the first fault. */
export function readWords(argv: readonly string[], table: readonly OptionEntry[]): Words {
  const options = Object.fromEntries(
    table.map(({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const),
  );
  const short = argv.map((word) => (word === '-h' ? '--help' : word));
  const { tokens } = parseArgs({ args: short, options, strict: false, allowPositionals: true, tokens: true });
  const values: Record<string, string | true> = {};
  const positionals: string[] = [];
  const faults: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const entry = table.find(({ name }) => name === token.name);
    if (entry === undefined) faults.push(unknownOption(token.rawName, table));
    else if (entry.value === undefined && token.value !== undefined) faults.push(`${token.rawName} takes no value`);
    else if (entry.value !== undefined && (token.value === undefined || token.value === ''))
      faults.push(`${token.rawName} wants a value: ${entry.value}`);
    else values[token.name] = token.value ?? true;
  }
  return { values, positionals, faults };
}

function unknownOption(name: string, table: readonly OptionEntry[]): string {
  const near = nearest(
    name,
    table.map((one) => `--${one.name}`),
  );
  return `there is no ${name}${near === undefined ? '' : `; ${near} is meant?`}`;
}
