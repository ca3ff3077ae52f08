import { resolve as resolvePath } from 'node:path';
import { parseArgs } from 'node:util';
import { createProgress } from '../catalogue/progress.ts';
import { readCatalogue } from '../catalogue/read.ts';
import { indexFileOf, searchDomainOf } from '../compose-engine.ts';
import type { DomainSettings } from '../config/settings.ts';
import { buildIndex } from '../engines/sqlite/build.ts';
import { IndexError } from '../engines/sqlite/index-error.ts';
import type { Document } from '../search/document.ts';
import { type Command, UsageError } from './command.ts';
import { domainNamed, wholeNumber } from './words.ts';

/** A user's own catalogue into a domain's embedded index: streamed, all or nothing. */
export const indexCatalogue: Command = {
  name: 'index',
  usage: '<domain> <file.ndjson|csv[.gz]> [--into <directory>] [--max-bad-rows N]',
  summary: "index your own catalogue for a domain's embedded engine, or its lifeboat",
  run: async (args, { clock, stdout, stderr, settings, signal }) => {
    const options = { into: { type: 'string' }, 'max-bad-rows': { type: 'string', default: '0' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [name, file] = positionals;
    if (name === undefined || file === undefined || positionals.length > 2) {
      throw new UsageError('index takes a domain and a file');
    }
    const maxBadRows = wholeNumber('--max-bad-rows', values['max-bad-rows']);
    const domain = domainNamed(name, settings());
    const index = indexFileOf(directoryOf(values.into, domain), name);
    const progress = createProgress({ label: `indexing ${name}`, output: stderr, clock });
    let line = 0;
    const rows = readCatalogue(file, {
      attributes: domain.attributes,
      maxBadRows,
      onRow: (read) => {
        line = read.line;
        progress.update(read.rows, read.bytesRead / read.totalBytes);
      },
      onBadRow: (error) => progress.note(`skipped: ${error.message}`),
      signal,
    });
    const { documents } = await buildIndex({
      file: index,
      domain: searchDomainOf(domain),
      documents: notEmpty(rows, file),
      builtAtMs: clock.wallMs(),
      signal,
    })
      .catch((error: unknown) => {
        // The index counts documents; a person looks for a line.
        if (!(error instanceof IndexError) || error.code !== 'invalid-document') throw error;
        throw new Error(`${file}, line ${line}: ${error.message}`, { cause: error });
      })
      .finally(() => progress.finish());
    stdout.write(`${documents} documents indexed for ${name} in ${index}; restart serpcache to search them\n`);
  },
};

/** Words win, so that a lifeboat can be built and tried before it is configured. */
function directoryOf(into: string | undefined, { name, engine, lifeboat }: DomainSettings): string {
  if (into !== undefined) return resolvePath(into);
  if (engine.kind === 'sqlite') return engine.directory;
  if (lifeboat !== undefined) return lifeboat.directory;
  const advice = 'see: serpcache sphinx-source, or give a directory for a lifeboat: --into <directory>';
  throw new UsageError(`domain ${name} is searched by ${engine.kind} and has no lifeboat; ${advice}`);
}

/** An index of nothing would take the place of a good one. */
async function* notEmpty(documents: AsyncIterable<Document>, file: string): AsyncIterable<Document> {
  let isEmpty = true;
  for await (const document of documents) {
    isEmpty = false;
    yield document;
  }
  if (isEmpty) throw new Error(`${file} holds no documents; nothing was changed`);
}
