import type { BucketRange } from './document.ts';

/** What is wrong with a document, in words. Thrown while parsing, and caught by the codec alone. */
export class Damage extends Error {
  override readonly name = 'Damage';
}

export type Fields = Readonly<Record<string, unknown>>;

/** Each reads one field and gives it back checked. @throws Damage */
export function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Damage(`${name} is no object`);
  return { ...value };
}

export function intOf(fields: Fields, name: string, min: number, max: number): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new Damage(`${name} is no whole number from ${min} to ${max}`);
  }
  return value;
}

export function textOf(fields: Fields, name: string, maxLength: number): string {
  const value = fields[name];
  if (typeof value !== 'string' || value.length === 0 || value.length > maxLength) {
    throw new Damage(`${name} is no text of 1 to ${maxLength} characters`);
  }
  return value;
}

export function boolOf(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value !== 'boolean') throw new Damage(`${name} is neither true nor false`);
  return value;
}

export function listOf<Part>(fields: Fields, name: string, max: number, parse: (one: Fields) => Part): Part[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new Damage(`${name} is no list`);
  if (value.length > max) throw new Damage(`${name} holds ${value.length}, at most ${max} are allowed`);
  return value.map((one: unknown) => parse(fieldsOf(one, `one of ${name}`)));
}

export function risingOf<Range extends BucketRange>(ranges: readonly Range[], name: string): readonly Range[] {
  if (ranges.some(({ from }, index) => index > 0 && from < (ranges[index - 1]?.to ?? 0))) {
    throw new Damage(`${name} overlap or do not rise`);
  }
  return ranges;
}
