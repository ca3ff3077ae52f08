import { createRandom } from '../../../../src/catalogue/demo/ad.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { fillCommand, fillCommands, massImport, PUBLISHED_MIX } from '../../kit/mix.ts';

/** Pages of the published mix: 100,000 keys with 100 to 6000 bytes each. */
export const PAGES = PUBLISHED_MIX.keys;

/** As redis-benchmark writes a random number: `page:000000000012`. */
export const PAGE = 'page:__rand_int__';
/** The same for the driver, which writes no zeros in front. */
export const DRIVEN_PAGE = 'page:0000000__rand_int__';
const DRIVEN_PAGE_DIGITS = 5;

/** The same for whoever repeats a row. */
export const PAGE_FILL = fillCommand('SET page:%012d', PUBLISHED_MIX);

/** Fills a store with pages, under names that redis-benchmark can ask for. */
export async function storePages(lab: Lab, store: LabStore): Promise<void> {
  await massImport(pages(), { ...store, cores: lab.cores.generator, signal: lab.signal });
}

function* pages(): Iterable<readonly (string | Buffer)[]> {
  let at = 0;
  for (const [set = '', , value = ''] of fillCommands(PUBLISHED_MIX, createRandom(1).next)) {
    yield [set, `page:${String(at).padStart(12, '0')}`, value];
    // Small numbers are shorter where nothing is put in front: those pages have a second name.
    if (String(at).length < DRIVEN_PAGE_DIGITS) yield [set, DRIVEN_PAGE.replace('__rand_int__', String(at)), value];
    at += 1;
  }
}
