import { Parser } from 'htmlparser2';

const INLINE =
  'a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr';
const HIDDEN = 'head iframe noscript script style template title';
const BLOCK =
  'address area article aside audio base blockquote body br button canvas caption center col colgroup dd details dialog div dl dt embed fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html img input li link main map meta nav object ol optgroup option p picture pre section select source summary svg table tbody td textarea tfoot th thead tr ul video';
/** A < that begins no tag of HTML and no comment: `a < b`, `<3` and `List<String>` hold one. */
const LESS_THAN = new RegExp(
  `<(?!/?(?:${`${INLINE} ${HIDDEN} ${BLOCK}`.replaceAll(' ', '|')})(?:[\\s/](?:"[^"]*"|'[^']*'|[^<>"'])*)?>|!doctype[^<>]*>|!--)`,
  'gi',
);

/** A text of HTML without its markup, blocks on lines of their own; any other text as it is. */
export function plainText(text: string): string {
  if (!text.includes('<') && !text.includes('&')) return text;
  const lastComment = text.lastIndexOf('-->');
  const html = text
    .replaceAll(/&(?!#\d+;|#x[\da-f]+;|[a-z][a-z\d]*;)/gi, '&amp;')
    .replaceAll(LESS_THAN, '&lt;')
    .replaceAll('<!--', (mark, at: number) => (at < lastComment ? mark : '&lt;!--'));
  const isMarkup = html.includes('<');
  let [plain, depth] = ['', 0];
  const tag = (name: string, step: number): void => {
    if (HIDDEN.split(' ').includes(name)) depth += step;
    if (!INLINE.split(' ').includes(name)) plain += '\n';
  };
  const parser = new Parser({
    onopentagname: (name) => tag(name, 1),
    onclosetag: (name) => tag(name, -1),
    // Line ends of HTML are spaces; those of a text with a few entities are its own.
    ontext: (part) => {
      if (depth === 0) plain += isMarkup ? part.replaceAll(/\s+/g, ' ') : part;
    },
  });
  parser.end(html);
  return isMarkup
    ? plain
        .replaceAll(/ *\n[ \n]*/g, '\n')
        .replaceAll(/ {2,}/g, ' ')
        .trim()
    : plain;
}
