import type { FindingRecord } from './finding.ts';
import { prose } from './prose.ts';

const [START, END] = ['<!-- overview -->', '<!-- /overview -->'];
/** Whatever somebody may have made of them: a comment of its own line with that word in it. */
const LIKE_ONE = /^[ \t]*<!--[^>\n]*\boverview\b[^>\n]*-->.*$/gim;
const HEAD = '| | does it hold here? |\n|---|---|';
const HOLDS = { yes: 'yes', partly: 'in part', no: 'no', unseen: 'not seen' } as const;

/**
 * What all findings of a page come to, in a table at its beginning: this one's row is replaced or added, the others stay.
 * A page without the place for it stays as it is. @param names of all findings of the page, in their order.
 * @throws when there is half a place, or one that was edited: its table would stay as old as it is.
 */
export function withOverview(page: string, { finding }: FindingRecord, names: readonly string[]): string {
  const eol = page.includes('\r\n') ? '\r\n' : '\n';
  const place = overviewOf(page);
  if (place === undefined) return page;
  const { from, to } = place;
  const rows = new Map(
    page
      .slice(from + START.length, to)
      .split(eol)
      .flatMap((line) => {
        const name = /^\| `([^`]+)` /.exec(line)?.[1];
        return name === undefined ? [] : [[name, line] as const];
      }),
  );
  const { name, lesson } = finding;
  rows.set(
    name,
    `| \`${name}\` ${prose(finding.title)} | **${HOLDS[lesson.holds]}**: ${prose(gist(lesson.sentence))} |`,
  );
  const lines = names.flatMap((one) => rows.get(one) ?? []);
  const table = [HEAD.replaceAll('\n', eol), ...lines].join(eol);
  return `${page.slice(0, from)}${START}${eol}${table}${eol}${page.slice(to)}`;
}

/** Where the beginning of its marker and of that of its end are; undefined: a page has none. @throws as above. */
export function overviewOf(page: string): { readonly from: number; readonly to: number } | undefined {
  const found = [...page.matchAll(LIKE_ONE)].map(({ 0: line, index }) => ({ text: line.trim(), from: index }));
  if (found.length === 0) return undefined;
  const [start, end] = found;
  if (found.length === 2 && start?.text === START && end?.text === END) return { from: start.from, to: end.from };
  throw new Error(
    `the overview of a page stands between one line "${START}" and one "${END}"; there are ${found.map(({ text }) => `"${text}"`).join(', ')}`,
  );
}

/** Up to the first full stop or semicolon that is not in brackets, without the words that say again whether it holds. */
function gist(sentence: string): string {
  const ends = [...sentence.matchAll(/; |\. (?=\p{Lu})/gu)].map(({ index }) => index);
  const first = ends.find((at) => !/\([^)]*$/.test(sentence.slice(0, at)));
  return sentence.slice(0, first).replace(VERDICT, '').replace(/\.$/, '');
}

const VERDICT =
  /^(?:(?:It )?holds(?: here)?(?: in part)?|It does not hold(?: here)?|Does not hold here|It could not be seen here|Partly)[:,] */i;
