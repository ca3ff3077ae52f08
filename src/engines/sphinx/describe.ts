import type { Attribute } from '../../search/domain.ts';
import { ID_ATTRIBUTE } from './configuration.ts';
import { type ConnectionOptions, openConnection } from './connection.ts';
import { checkAttributeName, checkIndexName, codesOf } from './rows.ts';

/** An index as a server describes it, made by `sphinx-source` or by others. */
export type IndexDescription = Awaited<ReturnType<typeof describeIndex>>;

const DEADLINE_MS = 5000;

const TYPES: Readonly<Record<string, Pick<Attribute, 'type' | 'multiple'>>> = {
  uint: { type: 'integer' },
  bigint: { type: 'integer' },
  bool: { type: 'integer' },
  float: { type: 'number' },
  timestamp: { type: 'date' },
  string: { type: 'string' },
  mva: { type: 'integer', multiple: true },
  mva64: { type: 'integer', multiple: true },
};

const TEXTS = ['title', 'description'];

/**
 * Reads the columns of an index over a connection of its own.
 * @param index absent: the only index of the server
 * @throws SearchError when the server does not answer, Error when there is no such index or several to choose from
 */
export async function describeIndex(
  { host, port, deadlineMs = DEADLINE_MS }: Pick<ConnectionOptions, 'host' | 'port'> & { readonly deadlineMs?: number },
  index: string | undefined,
  signal: AbortSignal,
) {
  const connection = await openConnection({ host, port, connectTimeoutMs: deadlineMs, onClose: () => {} }, signal);
  // The library has no deadline for a reply; a connection that ends rejects its statement.
  const timer = setTimeout(connection.destroy, deadlineMs);
  try {
    const rowsOf = async (sql: string) => (await connection.send(sql))[0] ?? [];
    const tables = await rowsOf('SHOW TABLES');
    const indexes = tables.map(([name]) => name ?? '');
    const [name = '', another] = index === undefined ? indexes : [index];
    if (another !== undefined || !indexes.includes(name)) {
      const wanted = index === undefined ? 'name one of its indexes' : `it has no index "${index}"`;
      throw new Error(`${wanted}: ${indexes.join(', ') || 'it has none'}`);
    }
    if (tables.some(([table, type]) => table === name && type === 'distributed')) {
      throw new Error(
        `${name} is distributed, and its parts have the columns: name a part, and write ${name} into the file`,
      );
    }
    checkIndexName(name);
    const columns = (await rowsOf(`DESCRIBE ${name}`)).map(([column, type]) => [column ?? '', type ?? ''] as const);
    const [[documents = ''] = []] = await rowsOf(`SELECT COUNT(*) FROM ${name}`);
    // A distributed index refuses it.
    const folded = await rowsOf(`CALL KEYWORDS('ё', '${name}')`).catch(() => []);
    const isString = (wanted: string): boolean =>
      columns.some(([column, type]) => column === wanted && type === 'string');
    const { attributes, refused } = attributesIn(columns);
    const keepsYo = folded.some(([, , normalized]) => normalized === 'ё');
    return {
      /** The version in the server's greeting: `2.2.11-id64-release (95ae9a6)`. */
      version: connection.version,
      index: name,
      documents: Number(documents),
      /** Those that a domain can declare, in the order of the index. */
      attributes,
      /** Names of attributes that cannot be declared, and letters that searches will not find, each in a sentence. */
      notes: keepsYo ? [...refused, KEEPS_YO] : refused,
      /** Text attributes that a page needs and the index lacks. */
      missing: TEXTS.filter((text) => !isString(text)),
      /** The attribute that `sphinx-source` writes for the document's own id; absent in an index made by others. */
      idAttribute: isString(ID_ATTRIBUTE) ? ID_ATTRIBUTE : undefined,
    };
  } finally {
    clearTimeout(timer);
    connection.destroy();
  }
}

const KEEPS_YO =
  'the index keeps ё, and searches are folded to е: words with ё are not found (charset_table: U+401->U+435, U+451->U+435)';

/** Full-text fields, columns of other types and names with `_` at the beginning are no attributes. */
function attributesIn(columns: readonly (readonly [name: string, type: string])[]) {
  const names = new Set(columns.map(([name]) => name));
  const refused: string[] = [];
  const attributes = columns.flatMap(([name, word]): Pick<Attribute, 'name' | 'type' | 'multiple'>[] => {
    const type = TYPES[word];
    if (['id', ID_ATTRIBUTE, ...TEXTS].includes(name) || name.startsWith('_') || word === 'field') return [];
    if (type === undefined) {
      refused.push(`${name}: attributes of type ${word} are not read`);
      return [];
    }
    try {
      checkAttributeName(name);
      if (/^[a-z][a-z0-9_]{0,30}$/.test(name)) {
        return [names.has(codesOf(name)) ? { name, ...type, multiple: true } : { name, ...type }];
      }
      refused.push(`${name}: attributes have lower-case letters, digits and _, 31 at most`);
    } catch (error) {
      refused.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
    return [];
  });
  return { attributes, refused };
}
