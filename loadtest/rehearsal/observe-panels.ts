import { dashboardQueries } from '../../deploy/grafana/dashboards.ts';
import type { PrometheusClient, Series } from '../stack/prometheus.ts';

/** A query that must return data. */
export interface Asked {
  /** A dashboard. */
  readonly group: string;
  /** A panel; it may have several queries. */
  readonly name: string;
  readonly expression: string;
  /** Why it may return nothing. */
  readonly emptyWhen?: string;
}

export interface Answer extends Asked {
  /** Series with at least one number. */
  readonly series: number;
  /** The words of Prometheus when it refused the query. */
  readonly fault?: string;
}

/** Rates over this time have several scrapes of the local stack. */
const RATE_INTERVAL = '30s';
const STEP_SECONDS = 5;
const AT_ONCE = 4;

/** Every query of every dashboard, for all domains and processes. */
export function panelQueries(): readonly Asked[] {
  const queries = dashboardQueries({ domain: '.*', instance: '.*', rateInterval: RATE_INTERVAL });
  return queries.map(({ dashboard, panel, expression, emptyWhen }) => ({
    group: dashboard,
    name: panel,
    expression,
    emptyWhen,
  }));
}

/** The metrics that the expressions name: a query that ends in `or vector(0)` returns data without any of them. */
export function metricsIn(expressions: readonly string[]): readonly string[] {
  const names = expressions.flatMap((expression) => expression.match(METRIC) ?? []);
  return [...new Set(names)].sort();
}

/** A counter of k6 begins with its first event, and a rehearsal without a shadow copies nothing. */
export function mayBeUnseen(metric: string): boolean {
  return metric.startsWith('k6_') || metric === 'serpcache_shadow_copies_total';
}

const METRIC = /\b(?:serpcache|redis|nodejs|process|k6)_[a-z0-9_]+\b/g;

interface AskOptions {
  readonly prometheus: Pick<PrometheusClient, 'range'>;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Sends the queries as a dashboard does that shows the time from `fromMs` to `untilMs`. */
export async function ask(queries: readonly Asked[], options: AskOptions): Promise<readonly Answer[]> {
  const { prometheus, fromMs, untilMs } = options;
  const answers: Answer[] = [];
  for (let at = 0; at < queries.length; at += AT_ONCE) {
    const part = queries.slice(at, at + AT_ONCE).map(async (query): Promise<Answer> => {
      try {
        const found = await prometheus.range(query.expression, fromMs, untilMs, STEP_SECONDS);
        return { ...query, series: found.filter(hasNumber).length };
      } catch (error) {
        return { ...query, series: 0, fault: error instanceof Error ? error.message : String(error) };
      }
    });
    answers.push(...(await Promise.all(part)));
  }
  return answers;
}

/** A ratio of nothing is NaN, and a panel that shows only that is empty. */
function hasNumber({ values }: Series): boolean {
  return values.some(([, value]) => value !== 'NaN');
}

/** A line per panel; each query without data is named. An empty answer with a declared reason counts as met. */
export function summaryOf(answers: readonly Answer[], what: string) {
  const lines: string[] = [];
  for (const [group, ofGroup] of Map.groupBy(answers, (answer) => answer.group)) {
    if (group !== '') lines.push(group);
    for (const [name, ofPanel] of Map.groupBy(ofGroup, (answer) => answer.name)) {
      const series = ofPanel.reduce((sum, answer) => sum + answer.series, 0);
      const empty = ofPanel.filter((answer) => answer.series === 0);
      const full = ofPanel.length - empty.length;
      const queries = ofPanel.length === 1 ? '' : `${full} of ${ofPanel.length} queries, `;
      if (full > 0) lines.push(`  data     ${name}: ${queries}${series} series`);
      for (const { expression, fault, emptyWhen } of empty) {
        const query = expression === name ? name : `${name}: ${expression}`;
        if (fault !== undefined) lines.push(`  REFUSED  ${query}`, `           ${fault}`);
        else if (emptyWhen === undefined) lines.push(`  NO DATA  ${query}`);
        else lines.push(`  empty    ${query}`, `           as it may be: ${emptyWhen}`);
      }
    }
  }
  const answered = answers.filter(({ series }) => series > 0).length;
  const wrong = answers.filter(({ series, fault, emptyWhen }) => series === 0 && (fault !== undefined || !emptyWhen));
  const excused = answers.length - answered - wrong.length;
  const text = [
    `${answered} of ${answers.length} ${what} returned data`,
    ...(excused > 0 ? [`${excused} may be empty`] : []),
    ...(wrong.length > 0 ? [`${wrong.length} HAD TO and did not`] : []),
  ].join(', ');
  return { lines, text, isMet: wrong.length === 0 };
}
