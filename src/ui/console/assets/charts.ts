import { backdrop, panelFigure } from '../../../report/plot/figure.ts';
import { timeScale } from '../../../report/plot/frame.ts';
import { h, type TreeElement } from '../../../report/tree.ts';
import { patch } from '../../shared/patch.ts';
import type { ChartGroup } from './chart-groups.ts';

/** Charts that are drawn as those of the reports, while their figures change, with the values at the pointer. */

/** A state that no charts have: those of a new element are drawn before there are figures. */
const NOT_DRAWN = {};

/** @param chartsOf the charts of an element that the view keeps for them. */
export function createCharts(id: string, chartsOf: (host: HTMLElement) => ChartGroup | undefined) {
  let host: HTMLElement | null = null;
  let drawnState: unknown = NOT_DRAWN;
  let group: ChartGroup | undefined;
  let pointedMs: number | undefined;

  const draw = (): void => {
    if (host !== null) patch(host, group === undefined ? [] : groupView(id, group, pointedMs));
  };
  const point = ({ target, clientX }: PointerEvent): void => {
    const drawing = target instanceof Element ? target.closest('.drawing') : null;
    const before = pointedMs;
    pointedMs = undefined;
    if (drawing !== null && group !== undefined) {
      const { left, width } = drawing.getBoundingClientRect();
      const { fromMs, toMs } = group.span;
      pointedMs = fromMs + Math.min(1, Math.max(0, (clientX - left) / width)) * (toMs - fromMs);
    }
    if (pointedMs !== before) draw();
  };
  const leave = (): void => {
    pointedMs = undefined;
    draw();
  };

  return {
    /**
     * @param next Null when the view has no charts. @param state What the charts are made of: they are made again only
     * when it has changed.
     */
    show: (next: HTMLElement | null, state: unknown): void => {
      if (next !== host) {
        [host, drawnState, pointedMs] = [next, NOT_DRAWN, undefined];
        next?.addEventListener('pointermove', point);
        next?.addEventListener('pointerleave', leave);
      }
      if (host === null || drawnState === state) return;
      drawnState = state;
      group = chartsOf(host);
      draw();
    },
  };
}

function groupView(id: string, group: ChartGroup, pointedMs: number | undefined): readonly TreeElement[] {
  const { panels, span, lastMs, isClock, pointedText, bands, moments, timeText } = group;
  const pointed = pointedMs === undefined ? undefined : pointedText(pointedMs);
  const options = { isHalf: true, heading: 'h3', atMs: pointedMs ?? lastMs, pointed, isClock } as const;
  return [
    backdrop({ id, x: timeScale(span), bands, moments, timeText }),
    ...panels.map((panel) => h('div', { 'data-key': panel.id })(panelFigure(panel, id, options))),
  ];
}
