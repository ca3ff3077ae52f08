import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import * as grafana from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as timeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

export interface Query {
  /** With the variables `$domain`, `$instance` and `$__rate_interval`. */
  readonly expression: string;
  /** `{{label}}` is replaced by the label's value. */
  readonly legend: string;
  /** Shows the traces of single requests as points. */
  readonly exemplars?: true;
  /** Only the present value: for windows of weeks, which are expensive to read at each point of a plot. */
  readonly instant?: true;
  /** Why a healthy service may have no data for it; absent: it always has. */
  readonly emptyWhen?: string;
}

/** `above` is the least value of the colour. */
export interface Threshold {
  readonly above: number;
  readonly color: 'green' | 'yellow' | 'orange' | 'red';
}

/** The text and colour of each value of a gauge that stands for a state. */
export type States = Readonly<Record<number, { readonly text: string; readonly color: string }>>;

export interface Panel {
  /**
   * `lines`: over time. `stack`: parts of a whole over time. `stat`: the present value. `states`: one bar per series, coloured
   * by state. `heatmap`: the distribution of a histogram's buckets. `table`: one row per series, at present.
   */
  readonly kind: 'lines' | 'stack' | 'stat' | 'states' | 'heatmap' | 'table';
  readonly title: string;
  /** The meaning of the figure, and the reaction to a bad one. */
  readonly description: string;
  /** As Grafana names it. */
  readonly unit: string;
  /** A row has 24 columns. */
  readonly width: number;
  readonly queries: readonly [Query, ...Query[]];
  /** The first colour is that of values below all thresholds. */
  readonly thresholds?: { readonly below: Threshold['color']; readonly steps: readonly Threshold[] };
  readonly states?: States;
  readonly min?: number;
  readonly max?: number;
  readonly decimals?: number;
  /** On a logarithmic axis: latencies of hits and of engine calls differ by a factor of a thousand. */
  readonly log?: true;
  /** Colours by legend, so that the same thing has the same colour on all panels. */
  readonly colors?: Readonly<Record<string, string>>;
  /** Columns of a table, by label; other labels are hidden. `Value` is the value. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Alerts whose sections of the runbook say what to do. */
  readonly alerts?: readonly string[];
}

/** In cells of Grafana's grid. */
export const HEIGHTS = { lines: 8, stack: 8, stat: 4, states: 6, heatmap: 8, table: 8 } as const;
export const DATASOURCE = { type: 'prometheus', uid: '$datasource' } as const;
const NO_TRAFFIC = 'no traffic';

/** Members that the builders of all kinds have. */
type AnyBuilder =
  | timeseries.PanelBuilder
  | stat.PanelBuilder
  | timeline.PanelBuilder
  | heatmap.PanelBuilder
  | table.PanelBuilder;

interface Place {
  readonly id: number;
  readonly height: number;
}

export function panelBuilder(panel: Panel, { id, height }: Place): Builder<grafana.Panel> {
  const builder = builderOf(panel)
    .id(id)
    .title(panel.title)
    .description(panel.description)
    .datasource(DATASOURCE)
    .unit(panel.unit)
    .span(panel.width)
    .height(height)
    .links((panel.alerts ?? []).map(runbookLink));
  for (const [index, query] of panel.queries.entries()) builder.withTarget(targetOf(panel, query, index));
  if (panel.min !== undefined) builder.min(panel.min);
  if (panel.max !== undefined) builder.max(panel.max);
  if (panel.decimals !== undefined) builder.decimals(panel.decimals);
  if (panel.thresholds !== undefined) builder.thresholds(thresholdsOf(panel.thresholds));
  if (panel.kind !== 'heatmap') builder.mappings(mappingsOf(panel));
  for (const [name, color] of Object.entries(panel.colors ?? {})) {
    builder.overrideByName(name, [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }]);
  }
  return builder;
}

/** The anchor is that of the alert's heading, as Markdown renderers make it. */
function runbookLink(alert: string): grafana.DashboardLinkBuilder {
  return new grafana.DashboardLinkBuilder(`Runbook: ${alert}`)
    .type(grafana.DashboardLinkType.Link)
    .url(`$runbook/alerts.md#${alert.toLowerCase()}`)
    .targetBlank(true);
}

function targetOf({ kind }: Panel, query: Query, index: number): Builder<Dataquery> {
  const { expression, legend, exemplars = false, instant = false } = query;
  const target = new prometheus.DataqueryBuilder()
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .expr(expression)
    .legendFormat(legend)
    .editorMode(prometheus.QueryEditorMode.Code)
    .exemplar(exemplars);
  if (kind === 'table') return target.instant().format(prometheus.PromQueryFormat.Table);
  return (instant ? target.instant() : target.range()).format(
    kind === 'heatmap' ? prometheus.PromQueryFormat.Heatmap : prometheus.PromQueryFormat.TimeSeries,
  );
}

function builderOf(panel: Panel): AnyBuilder {
  switch (panel.kind) {
    case 'lines':
    case 'stack':
      return linesOf(panel);
    case 'stat':
      return new stat.PanelBuilder()
        .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']))
        .colorMode(panel.thresholds === undefined ? common.BigValueColorMode.None : common.BigValueColorMode.Value)
        .graphMode(common.BigValueGraphMode.Area);
    case 'states':
      return new timeline.PanelBuilder()
        .legend(new common.VizLegendOptionsBuilder().showLegend(false))
        .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Single))
        .showValue(common.VisibilityMode.Auto)
        .mergeValues(true);
    case 'heatmap':
      return new heatmap.PanelBuilder()
        .calculate(false)
        .yAxis(new heatmap.YAxisConfigBuilder().unit(panel.unit))
        .rowsFrame(new heatmap.RowsHeatmapOptionsBuilder().layout(common.HeatmapCellLayout.Auto))
        .color(
          new heatmap.HeatmapColorOptionsBuilder()
            .mode(heatmap.HeatmapColorMode.Scheme)
            .scheme('Spectral')
            .scale(heatmap.HeatmapColorScale.Exponential)
            .exponent(0.5)
            .steps(64)
            .reverse(true),
        )
        .tooltip(new heatmap.HeatmapTooltipBuilder().mode(common.TooltipDisplayMode.Single).yHistogram(true));
    case 'table':
      return tableOf(panel);
  }
}

function linesOf({ kind, queries, thresholds, log }: Panel): timeseries.PanelBuilder {
  const isStack = kind === 'stack';
  const builder = new timeseries.PanelBuilder()
    .lineWidth(1)
    .fillOpacity(isStack ? 40 : 0)
    .showPoints(common.VisibilityMode.Never)
    .stacking(
      new common.StackingConfigBuilder()
        .mode(isStack ? common.StackingMode.Normal : common.StackingMode.None)
        .group('A'),
    )
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(queries.length > 1 || isStack ? common.LegendDisplayMode.Table : common.LegendDisplayMode.List)
        .placement(common.LegendPlacement.Bottom)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(
      new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending),
    );
  if (thresholds !== undefined) {
    builder.thresholdsStyle(
      new common.GraphThresholdsStyleConfigBuilder().mode(common.GraphThresholdsStyleMode.Dashed),
    );
  }
  if (log === true) {
    builder.scaleDistribution(new common.ScaleDistributionConfigBuilder().type(common.ScaleDistribution.Log).log(10));
  }
  return builder;
}

/** Instant queries have the columns Time, Value and one per label. */
function tableOf({ columns = {} }: Panel): table.PanelBuilder {
  return new table.PanelBuilder().withTransformation({
    id: 'organize',
    options: {
      excludeByName: { Time: true },
      indexByName: Object.fromEntries(Object.keys(columns).map((name, index) => [name, index])),
      renameByName: columns,
    },
  });
}

function thresholdsOf({ below, steps }: NonNullable<Panel['thresholds']>): grafana.ThresholdsConfigBuilder {
  return new grafana.ThresholdsConfigBuilder()
    .mode(grafana.ThresholdsMode.Absolute)
    .steps([{ value: null, color: below }, ...steps.map(({ above, color }) => ({ value: above, color }))]);
}

/** A ratio without traffic is not a number: the panel says so. */
function mappingsOf({ kind, states = {} }: Panel): grafana.ValueMapping[] {
  const texts: grafana.ValueMap = {
    type: grafana.MappingType.ValueToText,
    options: Object.fromEntries(
      Object.entries(states).map(([value, { text, color }], index) => [value, { text, color, index }]),
    ),
  };
  const none: grafana.SpecialValueMap = {
    type: grafana.MappingType.SpecialValue,
    options: { match: grafana.SpecialValueMatch.NotANumber, result: { text: NO_TRAFFIC, index: 99 } },
  };
  return [...(Object.keys(states).length > 0 ? [texts] : []), ...(kind === 'stat' ? [none] : [])];
}
