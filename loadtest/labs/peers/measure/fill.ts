import { type HttpDriven, servedShare } from '../../../http-driver/plan.ts';
import type { Lab } from '../../kit/lab.ts';
import { httpDriven } from './http-driven.ts';

/** As many as a server keeps under way at its engine. */
const CONNECTIONS = 8;
const PATIENCE_MS = 10_000;
/** Who protects the engine refuses some of what a cold start asks for: they are asked again. */
const PASSES = 4;

/** Asks each replica for each page until it has answered all. @returns the last pass @throws when some never are. */
export async function fillPages(
  lab: Lab,
  urls: readonly string[],
  paths: readonly string[],
  passes = PASSES,
): Promise<HttpDriven> {
  const plan = { paths, pace: { kind: 'once', connections: CONNECTIONS }, patienceMs: PATIENCE_MS } as const;
  let last: HttpDriven | undefined;
  for (const url of urls) {
    for (let pass = 0; pass < passes; pass += 1) {
      last = await httpDriven(lab, { ...plan, replicas: [url] });
      if (servedShare(last) === 1) break;
    }
    if (last === undefined || servedShare(last) < 1) {
      throw new Error(`not all pages were answered: ${JSON.stringify({ ...last?.outcomes, hung: last?.hung })}`);
    }
  }
  if (last === undefined) throw new Error('no replica to fill');
  return last;
}
