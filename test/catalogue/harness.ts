import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { type ReadOptions, readCatalogue } from '../../src/catalogue/read.ts';
import { CatalogueError } from '../../src/catalogue/row.ts';
import type { Attribute, AttributeType, Document } from '../../src/search/domain.ts';

/** A directory for the catalogues of a test file, removed after its tests. */
export function catalogueFiles() {
  let directory = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'serpcache-catalogue-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));
  /** Writes a file and reads it as a catalogue. */
  const read = async (
    name: string,
    content: string | Buffer,
    options: Partial<ReadOptions> = {},
  ): Promise<Document[]> => {
    await writeFile(join(directory, name), content);
    return Array.fromAsync(readCatalogue(join(directory, name), { attributes: ATTRIBUTES, ...options }));
  };
  return {
    path: (name: string): string => join(directory, name),
    read,
    /** Expects a CatalogueError from `read`. */
    refuses: (given: Parameters<typeof read>, ...expected: Parameters<typeof catalogueError>): Promise<void> =>
      assert.rejects(read(...given), catalogueError(...expected)),
  };
}

export const ATTRIBUTES: readonly Attribute[] = attributes({
  brand: 'string',
  price: 'integer',
  area: 'number',
  date: 'date',
});

/** Attributes with several values; `tags` may stand in one cell. */
export const LISTS: readonly Attribute[] = attributes({ tags: 'string', years: 'integer', days: 'date' }).map(
  (each) => ({ ...each, multiple: true, separator: each.name === 'tags' ? '|' : undefined }),
);

export function attributes(types: Readonly<Record<string, AttributeType>>): readonly Attribute[] {
  return Object.entries(types).map(([name, type]) => ({ name, type, facet: false, sort: false }));
}

/** A check for `assert.rejects`: a CatalogueError with this line, field and message. */
export function catalogueError(line: number | undefined, field: string | undefined, says: RegExp) {
  return (error: unknown): true => {
    if (!(error instanceof CatalogueError)) throw error;
    const place = placeOf(error);
    if (place.line !== line || place.field !== field || !says.test(error.message)) {
      throw new Error(`expected line ${line}, field ${field}, ${says}; got ${error.message}`);
    }
    return true;
  };
}

/** The line and the field that the message names. */
export function placeOf({ message }: CatalogueError): { readonly line?: number; readonly field?: string } {
  const [, line, field] = /^\S+?(?:, line (\d+))?(?:, field "(.*?)")?: /.exec(message) ?? [];
  return { line: line === undefined ? undefined : Number(line), field };
}
