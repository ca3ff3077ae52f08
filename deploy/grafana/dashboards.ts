import { recordText } from '../../loadtest/labs/kit/publish.ts';
import { CACHES } from './caches.ts';
import { buildDashboard, type Dashboard, queriesOf, type SentQuery } from './dashboard.ts';
import { ENGINE } from './engine.ts';
import { OVERVIEW } from './overview.ts';
import { PROCESS } from './process.ts';
import { type Chosen, EVERYTHING } from './promql.ts';
import { RUNS } from './runs.ts';

export const DASHBOARDS: readonly Dashboard[] = [OVERVIEW, CACHES, ENGINE, RUNS, PROCESS];

/** All queries of all dashboards, to be sent to a Prometheus: each has data unless it says `emptyWhen`. */
export function dashboardQueries(chosen: Chosen = EVERYTHING): readonly SentQuery[] {
  return DASHBOARDS.flatMap((dashboard) => queriesOf(dashboard, chosen));
}

/** The text of each JSON file, by name. The objects of the SDK have methods, which the first conversion removes. */
export function dashboardFiles(): ReadonlyMap<string, string> {
  return new Map(
    DASHBOARDS.map((dashboard) => [
      `${dashboard.name}.json`,
      recordText(JSON.parse(JSON.stringify(buildDashboard(dashboard)))),
    ]),
  );
}
