import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as grafana from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import { DATASOURCE, HEIGHTS, type Panel, panelBuilder } from './panel.ts';
import { type Chosen, EVERYTHING, ofDomain, ofProcess, withChosen } from './promql.ts';

export interface Row {
  readonly title: string;
  /** The widths of each line of panels add up to 24. */
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  /** The name of its file, and of its address in Grafana after `serpcache-`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Whether its panels depend on the variable `domain`. */
  readonly hasDomains: boolean;
  readonly rows: readonly Row[];
}

/** One query as Prometheus gets it. */
export interface SentQuery {
  readonly dashboard: string;
  /** The title of the panel, or the variable or annotation that needs the query. */
  readonly panel: string;
  readonly expression: string;
  readonly legend: string;
  /** Why it may have no data on a healthy service; absent: it always has. */
  readonly emptyWhen?: string;
}

const TAG = 'serpcache';
/** A placeholder: the text field in each dashboard takes the real address. */
const RUNBOOK = 'https://example.org/serpcache/deploy/runbook';
const DOMAINS = { metric: 'serpcache_domain_state', label: 'domain' } as const;
const PROCESSES = { metric: 'serpcache_build_info', label: 'instance' } as const;

const ANNOTATIONS = [
  {
    name: 'Drills',
    color: 'purple',
    expression: `max by (domain) (${ofDomain('serpcache_control_drill_live')}) > 0`,
    title: 'drill in {{domain}}',
    emptyWhen: 'no drill runs',
  },
  {
    name: 'Restarts',
    color: 'blue',
    // Each value is the time of its mark, in milliseconds.
    expression: `${ofProcess('process_start_time_seconds')} * 1000`,
    title: '{{instance}} started',
    valueIsTime: true,
  },
] as const;

/** All queries of a dashboard with values for its variables: panels, variables and annotations. */
export function queriesOf(dashboard: Dashboard, chosen: Chosen = EVERYTHING): readonly SentQuery[] {
  const { title } = dashboard;
  const sent = (panel: string, expression: string, legend: string, emptyWhen?: string): SentQuery => ({
    dashboard: title,
    panel,
    expression: withChosen(expression, chosen),
    legend,
    emptyWhen,
  });
  const panels = dashboard.rows.flatMap((row) => row.panels);
  return [
    ...panels.flatMap((panel) =>
      panel.queries.map(({ expression, legend, emptyWhen }) => sent(panel.title, expression, legend, emptyWhen)),
    ),
    ...[DOMAINS, PROCESSES].map(({ metric, label }) =>
      sent(`variable ${label}`, `group by (${label}) (${metric})`, `{{${label}}}`),
    ),
    ...ANNOTATIONS.map(({ name, expression, title: text, ...more }) =>
      sent(`annotation ${name}`, expression, text, 'emptyWhen' in more ? more.emptyWhen : undefined),
    ),
  ];
}

/** The dashboard as Grafana imports it. */
export function buildDashboard({ name, title, description, hasDomains, rows }: Dashboard): grafana.Dashboard {
  const builder = new grafana.DashboardBuilder(`serpcache: ${title}`)
    .uid(`serpcache-${name}`)
    .description(description)
    .tags([TAG])
    .editable()
    .tooltip(grafana.DashboardCursorSync.Crosshair)
    .timezone('browser')
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .variables(variablesOf(hasDomains))
    .annotations(ANNOTATIONS.map(annotationOf))
    .links([
      new grafana.DashboardLinkBuilder('serpcache')
        .type(grafana.DashboardLinkType.Dashboards)
        .tags([TAG])
        .includeVars(true)
        .keepTime(true),
      new grafana.DashboardLinkBuilder('Runbook')
        .type(grafana.DashboardLinkType.Link)
        .icon('doc')
        .url('$runbook/alerts.md')
        .targetBlank(true),
    ]);
  for (const [index, row] of rows.entries()) {
    // Numbered by row, so that a panel at the end of a row does not change the links to all panels after it.
    const firstId = (index + 1) * 100;
    builder.withRow(new grafana.RowBuilder(row.title).id(firstId));
    const heights = heightsOf(row.panels);
    for (const [at, panel] of row.panels.entries()) {
      builder.withPanel(panelBuilder(panel, { id: firstId + at + 1, height: heights[at] ?? 0 }));
    }
  }
  return builder.build();
}

/** Each panel is as high as the highest of its line. */
function heightsOf(panels: readonly Panel[]): readonly number[] {
  const lines: Panel[][] = [[]];
  for (const panel of panels) {
    const line = lines.at(-1) ?? [];
    const width = line.reduce((sum, one) => sum + one.width, panel.width);
    if (width <= 24) line.push(panel);
    else lines.push([panel]);
  }
  return lines.flatMap((line) => line.map(() => Math.max(...line.map(({ kind }) => HEIGHTS[kind]))));
}

function variablesOf(hasDomains: boolean): Builder<grafana.VariableModel>[] {
  const choice = ({ metric, label }: typeof DOMAINS | typeof PROCESSES): grafana.QueryVariableBuilder =>
    new grafana.QueryVariableBuilder(label)
      .label(label === 'instance' ? 'process' : label)
      .datasource(DATASOURCE)
      .query(`label_values(${metric}, ${label})`)
      .refresh(grafana.VariableRefresh.OnTimeRangeChanged)
      .sort(grafana.VariableSort.NaturalAsc)
      .multi(true)
      .includeAll(true)
      .allValue('.*')
      .current({ text: 'All', value: '$__all' });
  return [
    new grafana.DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'),
    choice(DOMAINS).hide(hasDomains ? grafana.VariableHide.DontHide : grafana.VariableHide.HideVariable),
    choice(PROCESSES),
    new grafana.TextBoxVariableBuilder('runbook')
      .label('runbook at')
      .description('The address at which the folder deploy/runbook can be read.')
      .defaultValue(RUNBOOK)
      .current({ text: RUNBOOK, value: RUNBOOK }),
  ];
}

function annotationOf({ name, color, expression, title, ...more }: (typeof ANNOTATIONS)[number]) {
  return new grafana.AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(true)
    .iconColor(color)
    .expr(expression)
    .step('15s')
    .titleFormat(title)
    .useValueForTime('valueIsTime' in more)
    .target(new prometheus.DataqueryBuilder().refId('Anno').expr(expression).range());
}
