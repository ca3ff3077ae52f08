import fc from 'fast-check';
import { JOURNAL, type Journal } from '../../../../src/operations/drills/journal.ts';
import { anyCharacter } from '../../../any-character.ts';

/** Any number that arithmetic can produce, NaN and infinities included. */
const number = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 0, max: 1e4, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -1, 1e-9, 1e21, Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN) },
);
/** Any text without the words that the test searches for. */
const words = fc
  .string({ unit: anyCharacter, maxLength: 20 })
  .filter((text) => !/NaN|undefined|Infinity|null|object/.test(text));

/** Members that fit each other: samples and marks of the drilled domains, in a time that has an axis. */
const FITTING: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  domain: fc.constantFrom('goods', 'auto'),
  domains: fc.constantFrom([], ['goods'], ['goods', 'auto']),
  atMs: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 0, max: 900_000 }) }, { weight: 1, arbitrary: number }),
  fraction: fc.double({ min: 0.001, max: 1, noNaN: true }),
  previews: fc.constant({}),
};

/** The keywords of JSON Schema that the journal uses. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly object[];
  readonly items?: object;
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly 'x-written'?: { readonly enum: readonly unknown[] };
}
/** A value of this shape; its numbers keep no bounds. */
function of(given: object): fc.Arbitrary<unknown> {
  const schema: Schema = given;
  const { properties, required = [], items, anyOf } = schema;
  const choice = schema.enum ?? schema['x-written']?.enum ?? ('const' in schema ? [schema.const] : undefined);
  if (choice !== undefined) return fc.constantFrom(...choice);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(of));
  if (items !== undefined) return fc.array(of(items), { maxLength: 6 });
  if (properties !== undefined) {
    const members = Object.entries(properties).map(([name, member]) => [name, FITTING[name] ?? of(member)]);
    return fc.record<Record<string, unknown>>(Object.fromEntries(members), { requiredKeys: [...required] });
  }
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: 0, max: 9 });
    case 'number':
      return number;
    default:
      return words;
  }
}

export const anyJournal = of(JOURNAL) as fc.Arbitrary<Journal>;
