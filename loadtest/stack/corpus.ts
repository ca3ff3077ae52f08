import { join } from 'node:path';
import { demoDocuments } from '../../src/catalogue/demo.ts';
import { readCatalogue } from '../../src/catalogue/read.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';

/** Real corpora of a domain, as they lie beside the project. */
const FILES: Readonly<Record<string, readonly { readonly file: string; readonly idSuffix: string }[]>> = {
  goods: [{ file: 'goods.ndjson.gz', idSuffix: '' }],
  packages: [
    { file: 'packages.ndjson.gz', idSuffix: '' },
    // The same packages described in Russian: the suffix keeps their ids apart.
    { file: 'packages-ru.ndjson.gz', idSuffix: '.ru' },
  ],
};

/** The documents of a domain of the local stack: from the corpora in `folder`, or of the demo without one. */
export async function* documentsOf(domain: SearchDomain, folder: string | undefined): AsyncGenerator<Document> {
  if (folder === undefined) return yield* demoDocuments(domain.name);
  const files = FILES[domain.name];
  if (files === undefined) throw new Error(`there is no corpus for the domain ${domain.name}`);
  for (const { file, idSuffix } of files) {
    for await (const document of readCatalogue(join(folder, file), { attributes: domain.attributes })) {
      yield idSuffix === '' ? document : { ...document, id: `${document.id}${idSuffix}` };
    }
  }
}
