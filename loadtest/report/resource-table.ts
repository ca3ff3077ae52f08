import { percentText, perSecondText, UNKNOWN } from '../../src/report/format.ts';
import { type Column, element, type Markup, said, table } from '../../src/report/markup.ts';
import type { Judged, ResourceUse } from '../judge/judged.ts';

/** How full everything was that can be full, fullest first. */
export function resourceTable({ resources, steps, binding }: Judged): Markup {
  const { unmeasured } = binding;
  return element(
    'section',
    { 'aria-labelledby': 'resources' },
    element('h2', { id: 'resources' }, 'What was how full'),
    table<ResourceUse>({
      caption: 'Use of what there is, by step',
      narrow: 'sideways',
      columns: [
        { title: 'What', cell: ({ name }) => said(name) },
        { title: 'Kind', cell: ({ kind }) => kind },
        ...steps.map(
          ({ summary }, at): Column<ResourceUse> => ({
            title: summary.step.name,
            isNumber: true,
            cell: ({ byStep }) => percentText(byStep[at]),
          }),
        ),
        { title: 'That is', isProse: true, cell: ({ words }) => said(words) },
        {
          title: 'Full at',
          isNumber: true,
          cell: ({ fullAtRps: rps }) =>
            rps === undefined ? UNKNOWN : `≈ ${perSecondText(Number(rps.toPrecision(2)))}`,
        },
      ],
      rows: resources,
      none: 'Nothing that can be full was measured.',
    }),
    element(
      'p',
      { class: 'note' },
      'Full at: the searches a second at which it would be full if its use went on growing as it did; a dash where that cannot be told.',
      unmeasured.length === 0 ? undefined : ` Could not be measured here: ${unmeasured.join(', ')}.`,
    ),
  );
}
