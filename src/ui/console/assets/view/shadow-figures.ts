import type { ShadowFigures } from '../../../../operations/shadow/figures.ts';
import type { ShadowStatus } from '../../../../operations/shadow/shadow.ts';
import { AGREEMENT_ROWS, COPY_ROWS, SIDE_ROWS } from '../../../../operations/shadow/view.ts';
import { withTooltip } from '../../../../report/components.ts';
import { countText, durationText, percentText, UNKNOWN } from '../../../../report/format.ts';
import { h } from '../../../../report/tree.ts';
import { badge, counted, panel, scrollTable, softView } from './components.ts';

/** The figures of a shadow as tables: both sides, the agreement of their values, and the copies. */

export function shadowFiguresView({ active, shadow, wrongKeys }: ShadowStatus, figures: ShadowFigures) {
  const { primary, candidate, agreement, seconds, processes } = figures;
  return [
    panel(
      'sides',
      'Side by side',
      softView(
        `Over ${durationText(seconds * 1000)} in ${counted(processes, 'process', 'processes')}, the same sampled keys on both sides. Figures of the servers include what others ask of them.`,
      ),
      scrollTable(
        'Figures of both sides',
        ['figure', sideHead('store', 'primary', active.name), sideHead('engine', 'candidate', shadow?.candidate.name)],
        SIDE_ROWS.map(({ name, text }) => [name, text(primary), text(candidate)]),
      ),
      faultsView('primary', primary),
      faultsView('candidate', candidate),
    ),
    panel(
      'agreement',
      'Agreement of the values',
      scrollTable(
        `Values of ${countText(agreement.compared)} reads that both sides answered`,
        ['result', 'reads', 'share'],
        AGREEMENT_ROWS.map(([name, meaning]) => [
          withTooltip(name, meaning),
          name === 'wrong' && agreement.wrong > 0
            ? badge('bad', countText(agreement.wrong))
            : countText(agreement[name]),
          percentText(agreement.compared > 0 ? agreement[name] / agreement.compared : undefined),
        ]),
      ),
      softView(
        agreement.lifeSamples > 0
          ? `Remaining lives differ by ${durationText(agreement.lifeDriftMs)} on average, by ${durationText(agreement.lifeDriftMaxMs)} at most.`
          : 'No remaining lives were compared.',
      ),
      wrongKeysView(wrongKeys),
      h('h3')('Copies'),
      scrollTable(
        'Copies of reads and writes',
        COPY_ROWS.map(([name, meaning]) => withTooltip(name, meaning)),
        [COPY_ROWS.map(([name]) => countText(figures.copying[name]))],
      ),
    ),
  ];
}

/** The colour of the curves, the side, and the name of its store. */
function sideHead(colour: 'store' | 'engine', side: string, name: string | undefined) {
  const isDashed = side === 'primary';
  return [h('i', { class: `swatch ${colour} ${isDashed ? 'dashed' : ''}` })(), `${side}: ${name ?? UNKNOWN}`];
}

function faultsView(side: string, { errors }: ShadowFigures['primary']) {
  const some = Object.entries(errors).filter(([, count]) => count > 0);
  return (
    some.length > 0 &&
    h('p')(`Errors of the ${side}: ${some.map(([fault, count]) => `${countText(count)} ${fault}`).join(', ')}.`)
  );
}

function wrongKeysView(keys: readonly string[]) {
  if (keys.length === 0) return undefined;
  return [
    h('h3')('Keys with wrong values'),
    h('ul', { class: 'ids' })(keys.map((key) => h('li', { class: 'row' })(h('code')(key)))),
  ];
}
