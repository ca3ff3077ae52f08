import { sleep } from 'k6';
import exec from 'k6/execution';
import { createAdmin, listOf, textsOf } from './admin.ts';
import { runMark } from './drill-hands.ts';
import { say } from './event.ts';
import type { Scene } from './script.ts';

/** Until every process follows the document: each asks for it twice a second. */
const SETTLE_SECONDS = 2;

/**
 * Everything of every domain that will be asked is a miss from now on, for good. `drop`, not `erase`: the same misses at
 * once, however much the store holds. Ends the run when a domain could not be flushed: it would be warm.
 */
export function flushFirst(scene: Scene, script: string): void {
  const admin = createAdmin(scene.target);
  const known = admin.get('/admin/domains');
  if (!known.ok) exec.test.abort(`nothing could be flushed: ${known.fault}`);
  // A file without domains asks for the default of the service, and only the service knows which that is.
  const all = known.ok ? textsOf(listOf(known.body, 'domains'), 'domain') : [];
  const domains = scene.domains.length > 0 ? scene.domains : all;
  for (const domain of domains) {
    const reply = admin.post('/admin/flush', { domain, mode: 'drop', reason: `${script}, ${runMark(scene)}` });
    if (!reply.ok) exec.test.abort(`${domain} could not be flushed: ${reply.fault}`);
    say({ kind: 'flush', text: `everything of ${domain}, for good` });
  }
  sleep(SETTLE_SECONDS);
}
