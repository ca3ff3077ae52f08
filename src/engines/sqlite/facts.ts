import type { Document } from '../../search/document.ts';
import type { Labels } from './labels.ts';
import type { Column } from './schema.ts';

/**
 * A document's attributes as `facts` holds them, in the order of its columns; null where one is missing.
 * @throws naming the attribute that is not declared or not of its type.
 */
export function factsOf(document: Document, columns: readonly Column[], labels: Labels): readonly (number | null)[] {
  const { attributes } = document;
  const declared = columns.filter(({ attribute }) => attributes[attribute.name] !== undefined);
  if (declared.length !== Object.keys(attributes).length) {
    const names = new Set(declared.map(({ attribute }) => attribute.name));
    const stray = Object.keys(attributes).filter((name) => !names.has(name));
    throw new Error(`attribute "${stray.join('", "')}" is not declared for this domain`);
  }
  return columns.map((column) => {
    const given = attributes[column.attribute.name];
    return given === undefined ? null : factOf(column, given, labels);
  });
}

const MS_PER_DAY = 86_400_000;

export function isoDate(days: number): string {
  return new Date(days * MS_PER_DAY).toISOString().slice(0, 10);
}

function factOf(column: Column, given: string | number, labels: Labels): number | null {
  const { name, type } = column.attribute;
  const refuse = (expected: string): Error =>
    new Error(`attribute "${name}" is ${JSON.stringify(given)}, expected ${expected}`);
  switch (type) {
    case 'string':
      if (typeof given !== 'string') throw refuse('text');
      return labels.codeOf(column, given);
    case 'integer':
      if (!Number.isSafeInteger(given)) throw refuse('a whole number within ±2^53');
      return Number(given);
    case 'number':
      if (typeof given !== 'number' || !Number.isFinite(given)) throw refuse('a number');
      return given;
    case 'date': {
      const days = Date.parse(`${given}T00:00:00Z`) / MS_PER_DAY;
      if (!Number.isInteger(days) || isoDate(days) !== given) throw refuse('a date as YYYY-MM-DD');
      return days;
    }
  }
}
