import { bytesText, countText, perSecondText, timesText } from '../../../report/format.ts';
import type { CheckRule, Window } from '../check.ts';
import { known } from '../facts.ts';
import {
  dataNodesOf,
  each,
  finding,
  isLasting,
  type Judgement,
  mastersOf,
  NO_PAIR,
  type NodeView,
  raiseOrHold,
  serverIdOf,
  skip,
  stateAbove,
  whyMissing,
} from '../window.ts';
import { cli, NO_INFO, othersCalls } from './store-figures.ts';

/** Stores of several nodes: coverage and balance of a cluster, versions, and servers that several stores share. */

const SLOTS = 16_384;

/** The nodes of one store. */
type NodesOfStore = ReturnType<typeof byStore>[number];

function byStore(views: readonly NodeView[]) {
  return [...Map.groupBy(views, ({ store }) => store.name).values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ subject: first.store.name, store: first.store, views: group }];
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

type Coverage = ReturnType<typeof coverageSeenBy>[number];

function coverageSeenBy(view: NodeView) {
  const fields = known(view.node.cluster);
  const state = fields?.['cluster_state'];
  if (fields === undefined || state === undefined) return [];
  const slots = (name: string): number => Number(fields[`cluster_slots_${name}`] ?? Number.NaN);
  return [{ view, state, assigned: slots('assigned'), failed: slots('fail'), suspected: slots('pfail') }];
}

function missing({ state, assigned, failed, suspected }: Coverage): number {
  return (state === 'ok' ? 0 : SLOTS) + (SLOTS - assigned) + failed + suspected / SLOTS;
}

/** One node that answers is enough to see the others; the one that sees the most trouble is told. */
function coverage({ views }: NodesOfStore): Judgement {
  const [worst] = views.flatMap(coverageSeenBy).toSorted((a, b) => missing(b) - missing(a));
  if (worst === undefined) return skip(whyMissing(views[0]?.node.cluster) || 'CLUSTER INFO does not tell it');
  const { view, state, assigned, failed, suspected } = worst;
  const isWrong = state !== 'ok' || assigned < SLOTS || failed > 0;
  if (!isWrong && !(suspected > 0)) return 'fine';
  // Suspected nodes either answer again or fail within the node timeout.
  return finding(raiseOrHold(isWrong), () => ({
    evidence: `${view.node.address} tells cluster_state:${state}; ${countText(assigned)} of ${countText(SLOTS)} slots are assigned, ${countText(failed)} have failed, ${countText(suspected)} are suspected.`,
    figures: { state, assigned, failed, suspected },
    advice: [
      `Show the node: ${cli(view, 'CLUSTER NODES')} | grep fail`,
      'Start it again, or promote its replica: CLUSTER FAILOVER FORCE on the replica.',
      `Slots without a node: redis-cli --cluster fix ${view.node.address}`,
      `So that the other slots go on meanwhile: ${cli(view, 'CONFIG SET cluster-require-full-coverage no')}`,
    ],
  }));
}

const MASTERS = 3;
function clusterMasters(window: Window): readonly NodesOfStore[] {
  return byStore(mastersOf(window)).filter(({ store, views }) => store.kind === 'cluster' && views.length >= MASTERS);
}

/**
 * With three masters, one at twice the mean has four times the work of each other. More masters make the share of one hot
 * page larger beside the mean, so the rate has a minimum that ordinary traffic does not bring to one shard.
 */
const HOT = { raises: 2, clears: 1.5, perSecond: 500 };

/** The masters of clusters with their rates of commands, and the mean; without a mean while one has no figures. */
function shardsOf(window: Window) {
  return clusterMasters(window).flatMap(({ views }) => {
    const rates = views.map((view) => {
      const calls = othersCalls(view);
      return calls === undefined ? view.rate('total_commands_processed') : calls / view.seconds;
    });
    const seen = rates.filter((rate) => rate !== undefined);
    // A mean without the others would make any master hot.
    const average = seen.length < views.length ? undefined : mean(seen);
    return views.map((view, at) => ({
      subject: view.subject,
      view,
      rate: rates[at] ?? 0,
      average,
      masters: views.length,
    }));
  });
}

/** Servers with the stores that name them, each store once. */
function sharedServersOf(window: Window) {
  return [...Map.groupBy(dataNodesOf(window), ({ node }) => serverIdOf(node)).values()].flatMap((views) => {
    const [view] = views;
    if (view === undefined) return [];
    return [{ subject: `server ${view.node.address}`, view, stores: [...new Set(views.map(({ store }) => store))] }];
  });
}

export const CLUSTER_CHECKS: readonly CheckRule[] = [
  {
    id: 'store-cluster-state',
    severity: 'critical',
    title: 'slots of the cluster have no master',
    needs: ['cluster'],
    minimum: 'one node of the cluster that answers',
    raises: `cluster_state is not ok, fewer than ${countText(SLOTS)} slots are assigned, or slots have failed`,
    clears: 'all slots are assigned and none is suspected',
    why: 'Every read of those slots is a miss and every write is lost; with full coverage required, the whole store stops.',
    source: 'Redis documentation, “CLUSTER INFO” and “Redis cluster specification”',
    look: each((window) => byStore(dataNodesOf(window)).filter(({ store }) => store.kind === 'cluster'), coverage),
  },
  {
    id: 'store-hot-shard',
    severity: 'warning',
    title: 'one shard gets most of the commands',
    needs: ['info'],
    minimum: `${MASTERS} masters, and ${perSecondText(HOT.perSecond)} on it`,
    raises: `≥ ${timesText(HOT.raises)} the mean of all masters, the doctor’s commands left out`,
    clears: `below ${timesText(HOT.clears)}`,
    why: 'The store is as fast as its busiest shard, and more shards do not split one key.',
    source:
      'Redis documentation, “Redis cluster specification”: a key belongs to one slot; simulated searches by Zipf’s law (400 and 10,000 texts, exponents 0.8 and 1) stay below 1.9 times the mean of three masters',
    look: each(shardsOf, ({ view, rate, average, masters }) => {
      if (average === undefined) return skip(NO_PAIR);
      if (rate < HOT.perSecond) return 'fine';
      return finding(stateAbove(rate / average, HOT), () => ({
        evidence: `This master answers ${perSecondText(rate)} commands, ${timesText(rate / average)} the mean of ${masters} masters (${perSecondText(average)}).`,
        figures: { commandsPerSecond: rate, meanPerSecond: average, masters },
        advice: [
          `Which commands: ${cli(view, 'INFO commandstats')}; which clients: ${cli(view, 'CLIENT LIST')}`,
          `Which keys: ${cli(view, '--hotkeys')} (with a policy of LFU), or the most asked searches: serpcache popular DOMAIN`,
          'A hot page belongs in L1: raise memory.maxBytes.',
        ],
      }));
    }),
  },
  {
    id: 'store-shared-server',
    severity: 'warning',
    title: 'control documents share a cache that evicts',
    needs: ['info'],
    raises: 'the control or counter store is on a server of a domain’s store with a limit and a policy allkeys-*',
    why: 'A flush, a suppression or a running drill is forgotten when its document is evicted and no process remembers it.',
    source: 'deploy/production.example.yaml (control); Redis documentation, “Key eviction”',
    look: each(sharedServersOf, ({ view, stores }) => {
      if (!stores.some(isLasting)) return undefined;
      const [policy, limit] = [view.text('maxmemory_policy'), view.level('maxmemory')];
      if (policy === undefined || limit === undefined) return skip(NO_INFO);
      const isWrong = stores.some(({ isCache }) => isCache) && policy.startsWith('allkeys-') && limit > 0;
      return finding(isWrong, () => ({
        evidence: `It is ${stores.map(({ name }) => name).join(', ')}, and evicts by ${policy} at ${bytesText(limit)}: pages push out control documents and counts.`,
        figures: { stores: stores.length, policy, maxmemory: limit },
        advice: [
          'Give control (and counters) a small server of its own with maxmemory-policy noeviction: control.nodes in the configuration.',
          `Until then spare keys without an expiry, control documents among them: ${cli(view, 'CONFIG SET maxmemory-policy volatile-lru')}`,
        ],
      }));
    }),
  },
  {
    id: 'store-shared-domains',
    severity: 'info',
    title: 'domains share a server',
    needs: ['info'],
    raises: 'pages of ≥ 2 domains on one server (run_id), in one database or several',
    why: 'They evict each other’s pages, wait behind each other’s commands and fail together.',
    source: 'Redis documentation, “SELECT”: databases are no isolation',
    look: each(sharedServersOf, ({ stores }) => {
      const domains = [...new Set(stores.flatMap((store) => store.domains))];
      return finding(domains.length > 1, () => ({
        evidence: `It keeps pages of ${domains.length} domains: ${domains.slice(0, 5).join(', ')}${domains.length > 5 ? ' …' : ''}.`,
        figures: { domains: domains.length },
        advice: ['Where one domain must not cost another its pages: a server for each, in domains.NAME.store.nodes.'],
      }));
    }),
  },
];
