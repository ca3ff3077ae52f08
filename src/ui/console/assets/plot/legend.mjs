import { h } from '../../../page/assets/view/tree.mjs';

/**
 * @typedef {import('./charts.mjs').Chart} Chart
 * @typedef {import('../data/history.mjs').Moment} Moment
 */

/**
 * The lines with their values: now, or where the pointer is.
 * @param {Chart} chart
 * @param {Moment | undefined} moment
 * @param {string | undefined} when Where it is not now.
 */
export function legendView({ title, lines, format }, moment, when) {
  const { look } = moment ?? {};
  return [
    h('h3', {}, title, h('small', {}, when === undefined ? '' : ` at ${when}`)),
    h(
      'ul',
      {},
      lines.map(({ name, colour, dashed, read }) =>
        h(
          'li',
          { 'data-key': name },
          h('i', { class: `key ${colour} ${dashed === true ? 'dashed' : ''}` }),
          name,
          ' ',
          h('b', {}, format(look === undefined ? undefined : read(look))),
        ),
      ),
    ),
  ];
}
