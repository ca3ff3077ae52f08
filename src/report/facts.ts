import { type Content, element, type Markup } from './markup.ts';

/** Names and what they stand for; an absent one is left out. */
export function facts(pairs: readonly (readonly [string, Content])[]): Markup {
  return element(
    'dl',
    { class: 'facts' },
    pairs.flatMap(([name, content]) =>
      content === undefined ? [] : [element('div', {}, element('dt', {}, name), element('dd', {}, content))],
    ),
  );
}
