import type { Check, Observation, Window } from '../check.ts';
import { known, type NodeFacts } from '../facts.ts';
import { fine, reasonOf, skipped } from '../window.ts';
import { cli } from './store-figures.ts';

/** Store nodes that do not answer. Nodes without INFO are no `NodeView`, so these checks read the snapshot itself. */

/** The node answered, or was not asked: it is not away. */
const NOT_ASKED = /\bNOPERM\b|\bbudget\b|no time left/;
/** The server refuses the credentials. Searches fail as the doctor does. */
const NO_ENTRY = /\b(?:WRONGPASS|NOAUTH|invalid password|invalid username-password)\b/i;

const CREDENTIALS =
  'Set username and password of this store in the configuration, or those of its doctor section; in redis-cli: --user NAME --askpass.';

function answers(store: string, node: NodeFacts): Observation {
  const subject = `${node.address} (${store})`;
  if ('known' in node.info) return fine(subject);
  const reason = reasonOf(node.info);
  if (NOT_ASKED.test(reason)) return skipped(subject, reason);
  return {
    ...{ subject, state: 'raise' },
    evidence: `The ${node.role} did not answer INFO: ${reason}.`,
    figures: { reason, role: node.role },
    advice: [
      ...(NO_ENTRY.test(reason) ? [CREDENTIALS] : []),
      `From this host: ${cli({ node }, 'PING')}`,
      `On its host: ss -ltn 'sport = :${node.address.slice(node.address.lastIndexOf(':') + 1)}', and the log of the server.`,
    ],
  };
}

/** Masters, and stores as a whole. */
function unreachable({ after }: Window): readonly Observation[] {
  return after.stores.flatMap(({ name, nodes }): readonly Observation[] => {
    const found = known(nodes);
    if (found !== undefined) return found.filter(({ role }) => role === 'master').map((node) => answers(name, node));
    const reason = reasonOf(nodes);
    if (NOT_ASKED.test(reason)) return [skipped(name, reason)];
    return [
      {
        ...{ subject: name, state: 'raise' },
        evidence: `No configured node tells the nodes of this store: ${reason}.`,
        figures: { reason },
        advice: [
          ...(NO_ENTRY.test(reason) ? [CREDENTIALS] : []),
          'Compare the store’s nodes in the configuration with the servers: npm run serpcache -- config check',
        ],
      },
    ];
  });
}

function unreachableOthers({ after }: Window): readonly Observation[] {
  return after.stores.flatMap(({ name, nodes }) =>
    (known(nodes) ?? []).filter(({ role }) => role !== 'master').map((node) => answers(name, node)),
  );
}

const HERE = { area: 'store', needs: ['info'], minimum: 'none', clears: 'otherwise' } as const;

export const REACH_CHECKS: readonly Check[] = [
  {
    ...{ ...HERE, id: 'store-unreachable', severity: 'critical', title: 'a store node does not answer' },
    raises: 'a master does not answer INFO within its time, or no node tells the others',
    why: 'Searches for its keys are misses that the engine must compute, flushes do not reach it, and the rest of the report does not see it.',
    source: 'measured: a killed or stopped node makes its share of the searches go to the engine',
    look: unreachable,
  },
  {
    ...{
      ...HERE,
      id: 'store-replica-unreachable',
      severity: 'warning',
      title: 'a replica or sentinel does not answer',
    },
    raises: 'a replica or a sentinel does not answer INFO within its time',
    why: 'No key is lost while the masters answer. But nothing may be left to take over when one fails, or no majority of sentinels to decide it.',
    source: 'Redis documentation, “High availability with Redis Sentinel” and “Redis replication”',
    look: unreachableOthers,
  },
];
