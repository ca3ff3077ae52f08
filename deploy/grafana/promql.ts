/** PromQL of the dashboards: selectors of the chosen domains and processes, and the expressions that many panels share. */

/** Values for the template variables of a dashboard. */
export interface Chosen {
  /** A regular expression, as for `=~`. */
  readonly domain: string;
  readonly instance: string;
  /** A duration: `1m`. At least four scrapes, as Grafana computes it. */
  readonly rateInterval: string;
}

/** All domains and processes; the interval is that of scrapes every 15 seconds. */
export const EVERYTHING: Chosen = { domain: '.*', instance: '.*', rateInterval: '1m' };

/** The expression that Grafana would send. */
export function withChosen(expression: string, { domain, instance, rateInterval }: Chosen): string {
  return expression
    .replaceAll('$domain', domain)
    .replaceAll('$instance', instance)
    .replaceAll('$__rate_interval', rateInterval);
}

/** Series of the chosen domains in the chosen processes. */
export function ofDomain(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${['domain=~"$domain"', 'instance=~"$instance"', ...matchers].join(', ')}}`;
}

/** Series of the chosen processes. The job is named because other programs have metrics of the same names. */
export function ofProcess(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${['job="serpcache"', 'instance=~"$instance"', ...matchers].join(', ')}}`;
}

export function rate(selector: string): string {
  return `rate(${selector}[$__rate_interval])`;
}

export function sum(by: string, vector: string): string {
  return `sum by (${by}) (${vector})`;
}

export function max(by: string, vector: string): string {
  return `max by (${by}) (${vector})`;
}

/** @param selector of the `_bucket` series. */
export function quantile(share: number, by: string, selector: string): string {
  return `histogram_quantile(${share}, sum by (${by}, le) (${rate(selector)}))`;
}

/** Without traffic it is 0/0, which is a gap in a plot and not an empty answer. */
export function ratio(by: string, part: string, whole: string): string {
  return `${sum(by, rate(part))} / ${sum(by, rate(whole))}`;
}

/** For a counter whose series begin with their first event: 0 for each series of `whole` that has none. */
export function orZero(by: string, vector: string, whole: string): string {
  return `${vector} or 0 * ${sum(by, rate(whole))}`;
}

/** For series that begin with their first event, of whatever label. */
export function orNone(vector: string): string {
  return `${vector} or on () vector(0)`;
}

/** Requests that were refused before their domain was known have the domain `none`, and no hit ratio. */
export const NAMED_DOMAIN = 'domain!="none"';

/** Series of a recording rule, which adds the processes of the fleet together: the choice of processes has no effect. */
export function ofRule(rule: string, ...matchers: readonly string[]): string {
  return `${rule}{${['domain=~"$domain"', ...matchers].join(', ')}}`;
}
