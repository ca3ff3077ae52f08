import { readFileSync } from 'node:fs';
import type { Plan } from '../../drills/plan.ts';
import { describeFaults, readPlanFile } from '../../drills/plan-file.ts';
import type { DomainStatus } from '../../search/status.ts';
import type { AdminClient } from '../admin/client.ts';
import type { Words } from '../arguments.ts';
import { UsageError } from '../arguments.ts';

export interface Asked {
  readonly plan: string | Plan;
  readonly domains?: readonly string[];
}

/** What is drilled: the name of a ready-made plan, or a file with one's own; and where. @throws UsageError */
export async function askedPlan(words: Words, client: AdminClient): Promise<Asked> {
  const [word = ''] = words.positionals;
  const domains = words
    .texts('domain')
    .flatMap((text) => text.split(','))
    .filter((name) => name !== '');
  const plan = /[/\\]|\.ya?ml$/.test(word) ? await planInFile(word, domains, client) : word;
  return { plan, ...(domains.length === 0 ? {} : { domains }) };
}

async function planInFile(file: string, domains: readonly string[], client: AdminClient): Promise<Plan> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`the plan ${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  const read = readPlanFile(text, /\beach\b/.test(text) ? await nodesOf(domains[0], client) : undefined);
  if (read.kind === 'plan') return read.plan;
  throw new UsageError(`${file} is no plan:\n${describeFaults(read.faults)}`);
}

/** `node: each` is written out to the nodes that the store has now. */
async function nodesOf(domain: string | undefined, client: AdminClient): Promise<number | undefined> {
  const { domains } = await client.get<{ domains: readonly DomainStatus[] }>('/admin/domains');
  return domains.find((each) => each.domain === domain)?.store?.nodes.length;
}
