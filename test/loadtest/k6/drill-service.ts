import type { IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import { loadReadyPlans } from '../../../src/operations/drills/plan-file.ts';
import { listening } from '../../http-listener.ts';

/** A fake admin API with the drills of a test: it answers as the service does, and flushes nothing. */
export interface DrillService {
  readonly url: string;
  /** The plans that were begun and the ids that were ended, in order. */
  readonly begun: { readonly domains: readonly string[]; readonly reason: string; readonly plan: object }[];
  readonly aborted: string[];
}

export interface DrillServiceOptions {
  /** The state of a drill at the next request; absent: it is still running. */
  readonly verdict?: { readonly kind: string; readonly detail: string };
}

export const OURS = '20261121-102030-goods-ours';
/** A running drill of another operator. */
const THEIRS = '20261121-102000-auto-theirs';

export async function drillService(context: TestContext, { verdict }: DrillServiceOptions): Promise<DrillService> {
  const begun: DrillService['begun'] = [];
  const aborted: string[] = [];
  const marks = [{ kind: 'stage', atMs: 250, domain: 'goods', title: 'all but the holdout' }];
  const isOver = (id: string): boolean => aborted.includes(id) || (id === OURS && verdict !== undefined);
  const ended = (id: string): object => (aborted.includes(id) ? { kind: 'aborted', detail: 'ended' } : (verdict ?? {}));
  const journal = (id: string): object => ({
    id,
    reason: id === OURS ? begun[0]?.reason : 'a Friday exercise',
    marks,
    ...(isOver(id) ? { state: { kind: 'over' }, verdict: ended(id) } : { state: { kind: 'running' } }),
  });

  const answer = (method: string, path: string, body: string): object | undefined => {
    const id = /^\/admin\/drills\/([\w-]+)/.exec(path)?.[1];
    if (path === '/admin/plans') return { plans: loadReadyPlans()(1) };
    if (method === 'POST' && path === '/admin/drills') {
      begun.push(JSON.parse(body));
      return journal(OURS);
    }
    if (path === '/admin/drills') {
      const ids = [THEIRS, ...(begun.length > 0 ? [OURS] : [])];
      return { drills: ids.map((one) => ({ id: one, running: !isOver(one) })) };
    }
    if (id !== undefined && path.endsWith('/abort')) {
      aborted.push(id);
      return { id };
    }
    return id === undefined ? undefined : journal(id);
  };

  const url = await listening(context, async (request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/, '');
    const reply = answer(request.method ?? '', path, await textOf(request));
    response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply ?? { detail: `there is no ${path}` }));
  });
  return { url, begun, aborted };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
