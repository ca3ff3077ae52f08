import { bytesText, countText, perSecondText, timesText } from '../../../report/format.mjs';
import type { Check, Observation, Window } from '../check.ts';
import { serverOf } from '../collect/store-replies.ts';
import { known, type StoreFacts } from '../facts.ts';
import { dataNodesOf, fine, mastersOf, type NodeView, reasonOf, skipped, stateAbove } from '../window.ts';
import { cli, NO_INFO, NO_PAIR, othersCalls, serverIdOf, wrongIf } from './store-figures.ts';
import { isLasting } from './store-uses.ts';

/** Stores of several nodes: coverage and balance of a cluster, versions, and servers that several stores share. */

const SLOTS = 16_384;

function byStore(
  views: readonly NodeView[],
): readonly { readonly store: StoreFacts; readonly views: readonly NodeView[] }[] {
  return [...Map.groupBy(views, ({ store }) => store.name).values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ store: first.store, views: group }];
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

// --- coverage ---------------------------------------------------------------------------------------------------------

interface Coverage {
  readonly view: NodeView;
  readonly state: string;
  readonly assigned: number;
  readonly failed: number;
  readonly suspected: number;
}

/** One node that answers is enough to see the others; the one that sees the most trouble is told. */
function coverage(window: Window): readonly Observation[] {
  const clusters = byStore(dataNodesOf(window)).filter(({ store }) => store.kind === 'cluster');
  return clusters.map(({ store, views }): Observation => {
    const subject = store.name;
    const [worst] = views
      .flatMap((view): Coverage[] => {
        const fields = known(view.node.cluster)?.fields;
        const state = fields?.['cluster_state'];
        if (fields === undefined || state === undefined) return [];
        const slots = (name: string): number => Number(fields[`cluster_slots_${name}`] ?? Number.NaN);
        const [assigned, failed, suspected] = [slots('assigned'), slots('fail'), slots('pfail')];
        return [{ view, state, assigned, failed, suspected }];
      })
      .toSorted((a, b) => missing(b) - missing(a));
    if (worst === undefined) {
      const [first] = views;
      return skipped(subject, (first && reasonOf(first.node.cluster)) || 'CLUSTER INFO does not tell it');
    }
    const { view, state, assigned, failed, suspected } = worst;
    const isWrong = state !== 'ok' || assigned < SLOTS || failed > 0;
    if (!isWrong && !(suspected > 0)) return fine(subject);
    return {
      subject,
      // Suspected nodes either answer again or fail within the node timeout.
      state: isWrong ? 'raise' : 'hold',
      evidence: `${view.node.address} tells cluster_state:${state}; ${countText(assigned)} of ${countText(SLOTS)} slots are assigned, ${countText(failed)} have failed, ${countText(suspected)} are suspected.`,
      figures: { state, assigned, failed, suspected },
      advice: [
        `Show the node: ${cli(view, 'CLUSTER NODES')} | grep fail`,
        'Start it again, or promote its replica: CLUSTER FAILOVER FORCE on the replica.',
        `Slots without a node: redis-cli --cluster fix ${view.node.address}`,
        `So that the other slots go on meanwhile: ${cli(view, 'CONFIG SET cluster-require-full-coverage no')}`,
      ],
    };
  });
}

function missing({ state, assigned, failed, suspected }: Coverage): number {
  return (state === 'ok' ? 0 : SLOTS) + (SLOTS - assigned) + failed + suspected / SLOTS;
}

// --- balance ----------------------------------------------------------------------------------------------------------

const MASTERS = 3;
const UNBALANCED = { raises: 1.5, clears: 1.3, aboveBytes: 50e6 };

function clusterMasters(
  window: Window,
): readonly { readonly store: StoreFacts; readonly views: readonly NodeView[] }[] {
  return byStore(mastersOf(window)).filter(({ store, views }) => store.kind === 'cluster' && views.length >= MASTERS);
}

function memoryBalance(window: Window): readonly Observation[] {
  return clusterMasters(window).map(({ store, views }): Observation => {
    const subject = store.name;
    const used = views.flatMap((view) => {
      const bytes = view.level('used_memory');
      return bytes === undefined ? [] : [{ view, bytes }];
    });
    const [largest] = used.toSorted((a, b) => b.bytes - a.bytes);
    if (largest === undefined || used.length < views.length) return skipped(subject, NO_INFO);
    const average = mean(used.map(({ bytes }) => bytes));
    const state = stateAbove(largest.bytes / average, UNBALANCED);
    if (state === 'fine' || largest.bytes - average < UNBALANCED.aboveBytes) return fine(subject);
    return {
      ...{ subject, state },
      evidence: `${largest.view.node.address} uses ${bytesText(largest.bytes)}; the mean of ${used.length} masters is ${bytesText(average)}.`,
      figures: { largestBytes: largest.bytes, meanBytes: average, masters: used.length },
      advice: [
        `Large keys, or too many slots? ${cli(largest.view, '--bigkeys')}, ${cli(largest.view, 'CLUSTER NODES')}`,
        `redis-cli --cluster rebalance ${largest.view.node.address}`,
      ],
    };
  });
}

/**
 * With three masters, one at twice the mean has four times the work of each other. More masters make the share of one hot
 * page larger beside the mean, so the rate has a minimum that ordinary traffic does not bring to one shard.
 */
const HOT = { raises: 2, clears: 1.5, perSecond: 500 };
function hotShards(window: Window): readonly Observation[] {
  return clusterMasters(window).flatMap(({ views }): readonly Observation[] => {
    const rates = views.map((view) => {
      const calls = othersCalls(view);
      return calls === undefined ? view.rate('total_commands_processed') : calls / view.seconds;
    });
    const seen = rates.filter((rate) => rate !== undefined);
    // A mean without the others would make any master hot.
    if (seen.length < MASTERS || seen.length < views.length) {
      return views.map(({ subject }) => skipped(subject, NO_PAIR));
    }
    const average = mean(seen);
    return views.map((view, at): Observation => {
      const { subject } = view;
      const rate = rates[at] ?? 0;
      const state = stateAbove(rate / average, HOT);
      if (state === 'fine' || rate < HOT.perSecond) return fine(subject);
      return {
        ...{ subject, state },
        evidence: `This master answers ${perSecondText(rate)} commands, ${timesText(rate / average)} the mean of ${views.length} masters (${perSecondText(average)}).`,
        figures: { commandsPerSecond: rate, meanPerSecond: average, masters: views.length },
        advice: [
          `Which commands: ${cli(view, 'INFO commandstats')}; which clients: ${cli(view, 'CLIENT LIST')}`,
          `Which keys: ${cli(view, '--hotkeys')} (with a policy of LFU), or the most asked searches: serpcache popular DOMAIN`,
          'A hot page belongs in L1: raise memory.maxBytes.',
        ],
      };
    });
  });
}

// --- versions ---------------------------------------------------------------------------------------------------------

/** Older versions get no repairs any more. */
const OLDEST = { major: 6, minor: 2 };

interface Served {
  readonly view: NodeView;
  readonly product: string;
  readonly version: string;
  readonly run: boolean;
}

function servedBy(views: readonly NodeView[]): readonly Served[] {
  return views.flatMap((view) => {
    const info = known(view.node.info);
    return info === undefined ? [] : [{ view, ...serverOf(info) }];
  });
}

/** `Redis 6.0.16 (2 nodes)` */
function versionTexts(served: readonly Served[]): readonly string[] {
  return [...Map.groupBy(served, ({ product, version }) => `${product} ${version}`)].map(
    ([name, { length }]) => `${name} (${countText(length)} ${length === 1 ? 'node' : 'nodes'})`,
  );
}

function isOld({ product, version }: Served): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return product === 'Redis' && (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor));
}

function versions(window: Window): readonly Observation[] {
  return byStore(dataNodesOf(window)).map(({ store, views }): Observation => {
    const served = servedBy(views);
    const [old, others] = [served.filter(isOld), served.filter((one) => !isOld(one) && !one.run)];
    return wrongIf(old.length + others.length > 0, store.name, () => ({
      evidence: [
        ...(old.length === 0 ? [] : [`No longer maintained: ${versionTexts(old).join(', ')}.`]),
        ...(others.length === 0
          ? []
          : [
              `Known from recorded replies only, and not run in serpcache’s tests: ${versionTexts(others).join(', ')}.`,
            ]),
      ].join(' '),
      figures: { old: old.length, notRun: others.length },
      advice: [
        old.length === 0
          ? 'Figures may be missing or differ in meaning; skipped checks name theirs.'
          : 'Move to Redis 7 or Valkey 8: as a candidate of the domain, with serpcache shadow and a cut-over.',
      ],
    }));
  });
}

function differentVersions(window: Window): readonly Observation[] {
  return byStore(dataNodesOf(window)).flatMap(({ store, views }): Observation[] => {
    if (views.length < 2) return [];
    const texts = versionTexts(servedBy(views));
    return [
      wrongIf(texts.length > 1, store.name, () => ({
        evidence: `Its nodes differ in version: ${texts.join(', ')}.`,
        figures: { versions: texts.length },
        advice: ['Finish the upgrade, replicas first: an older replica cannot read the copy of a newer master.'],
      })),
    ];
  });
}

// --- shared servers -----------------------------------------------------------------------------------------------------

/** Servers with the stores that name them, each store once. */
function serversOf(window: Window): readonly { readonly view: NodeView; readonly stores: readonly StoreFacts[] }[] {
  return [...Map.groupBy(dataNodesOf(window), serverIdOf).values()].flatMap((views) => {
    const [first] = views;
    if (first === undefined) return [];
    return { view: first, stores: [...new Set(views.map(({ store }) => store))] };
  });
}

function sharedServers(window: Window): readonly Observation[] {
  return serversOf(window).flatMap(({ view, stores }): Observation[] => {
    if (!stores.some(isLasting)) return [];
    const subject = `server ${view.node.address}`;
    const [policy, limit] = [view.text('maxmemory_policy'), view.level('maxmemory')];
    if (policy === undefined || limit === undefined) return [skipped(subject, NO_INFO)];
    const isWrong = stores.some(({ isCache }) => isCache) && policy.startsWith('allkeys-') && limit > 0;
    return [
      wrongIf(isWrong, subject, () => ({
        evidence: `It is ${stores.map(({ name }) => name).join(', ')}, and evicts by ${policy} at ${bytesText(limit)}: pages push out control documents and counts.`,
        figures: { stores: stores.length, policy, maxmemory: limit },
        advice: [
          'Give control (and counters) a small server of its own with maxmemory-policy noeviction: control.nodes in the configuration.',
          `Until then spare keys without an expiry, control documents among them: ${cli(view, 'CONFIG SET maxmemory-policy volatile-lru')}`,
        ],
      })),
    ];
  });
}

function sharedDomains(window: Window): readonly Observation[] {
  return serversOf(window).map(({ view, stores }): Observation => {
    const domains = [...new Set(stores.flatMap((store) => store.domains))];
    return wrongIf(domains.length > 1, `server ${view.node.address}`, () => ({
      evidence: `It keeps pages of ${domains.length} domains: ${domains.slice(0, 5).join(', ')}${domains.length > 5 ? ' …' : ''}.`,
      figures: { domains: domains.length },
      advice: ['Where one domain must not cost another its pages: a server for each, in domains.NAME.store.nodes.'],
    }));
  });
}

function databases(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, node } = view;
    const clients = known(node.clients);
    if (clients === undefined) return skipped(subject, reasonOf(node.clients));
    const used = clients.databases;
    return wrongIf(used.length > 1, subject, () => ({
      evidence: `Its clients use ${used.length} databases: ${used.slice(0, 8).join(', ')}.`,
      figures: { databases: used.length },
      advice: [`Which clients use which (db=): ${cli(view, 'CLIENT LIST')}`, 'Then a server of its own for each use.'],
    }));
  });
}

const SETTING = { minimum: 'none', clears: 'otherwise' };

export const CLUSTER_CHECKS: readonly Check[] = [
  {
    ...{ id: 'store-cluster-state', area: 'store', severity: 'critical', title: 'slots of the cluster have no master' },
    needs: ['cluster'],
    minimum: 'one node of the cluster that answers',
    raises: `cluster_state is not ok, fewer than ${countText(SLOTS)} slots are assigned, or slots have failed`,
    clears: 'all slots are assigned and none is suspected',
    why: 'Every read of those slots is a miss and every write is lost; with full coverage required, the whole store stops.',
    source: 'Redis documentation, “CLUSTER INFO” and “Redis cluster specification”',
    look: coverage,
  },
  {
    ...{
      id: 'store-slots-unbalanced',
      area: 'store',
      severity: 'info',
      title: 'one shard holds much more than the others',
    },
    needs: ['info'],
    minimum: `${MASTERS} masters, and ${bytesText(UNBALANCED.aboveBytes)} above the mean`,
    raises: `the largest uses ≥ ${timesText(UNBALANCED.raises)} the mean`,
    clears: `below ${timesText(UNBALANCED.clears)}`,
    why: 'It evicts while the others have room: large keys, or slots that were moved and not balanced.',
    source: 'Redis documentation, “Scale with Redis Cluster” (rebalance)',
    look: memoryBalance,
  },
  {
    ...{ id: 'store-hot-shard', area: 'store', severity: 'warning', title: 'one shard gets most of the commands' },
    needs: ['info'],
    minimum: `${MASTERS} masters, and ${perSecondText(HOT.perSecond)} on it`,
    raises: `≥ ${timesText(HOT.raises)} the mean of all masters, the doctor’s commands left out`,
    clears: `below ${timesText(HOT.clears)}`,
    why: 'The store is as fast as its busiest shard, and more shards do not split one key.',
    source:
      'Redis documentation, “Redis cluster specification”: a key belongs to one slot; simulated searches by Zipf’s law (400 and 10,000 texts, exponents 0.8 and 1) stay below 1.9 times the mean of three masters',
    look: hotShards,
  },
  {
    ...{ id: 'store-version', area: 'store', severity: 'info', title: 'a server version that serpcache does not run' },
    needs: ['info'],
    ...SETTING,
    raises: `Redis before ${OLDEST.major}.${OLDEST.minor}, or a product or major version that the tests do not start`,
    why: 'Its figures are believed from recorded replies. Versions past their end get no repairs.',
    source: 'tests of this project: Redis 7, Valkey 8; Redis documentation, “Redis release cycle”',
    look: versions,
  },
  {
    ...{
      id: 'store-versions-differ',
      area: 'store',
      severity: 'info',
      title: 'the nodes of a store differ in version',
    },
    needs: ['info'],
    minimum: '2 nodes',
    raises: 'more than one product or version among them',
    clears: SETTING.clears,
    why: 'Right during an upgrade only: nodes differ in speed, in settings and in what they can copy from each other.',
    source: 'Redis documentation, “Redis administration” (upgrading)',
    look: differentVersions,
  },
  {
    ...{
      id: 'store-shared-server',
      area: 'store',
      severity: 'warning',
      title: 'control documents share a cache that evicts',
    },
    needs: ['info'],
    ...SETTING,
    raises: 'the control or counter store is on a server of a domain’s store with a limit and a policy allkeys-*',
    why: 'A flush, a suppression or a running drill is forgotten when its document is evicted and no process remembers it.',
    source: 'deploy/production.example.yaml (control); Redis documentation, “Key eviction”',
    look: sharedServers,
  },
  {
    ...{ id: 'store-shared-domains', area: 'store', severity: 'info', title: 'domains share a server' },
    needs: ['info'],
    ...SETTING,
    raises: 'pages of ≥ 2 domains on one server (run_id), in one database or several',
    why: 'They evict each other’s pages, wait behind each other’s commands and fail together.',
    source: 'Redis documentation, “SELECT”: databases are no isolation',
    look: sharedDomains,
  },
  {
    ...{ id: 'store-databases', area: 'store', severity: 'info', title: 'clients use several databases of a server' },
    needs: ['clients'],
    ...SETTING,
    raises: 'connections in ≥ 2 databases',
    why: 'Databases share one thread, one limit and one eviction; a cluster has one database only.',
    source: 'Redis documentation, “SELECT”',
    look: databases,
  },
];
