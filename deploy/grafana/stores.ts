import type { Row } from './dashboard.ts';
import { max, ofDomain, ofProcess, orNone, orZero, quantile, rate, ratio, sum } from './promql.ts';
import { BREAKER_STATES, PART_STATES, REACHED } from './states.ts';

const COMMANDS = ofDomain('serpcache_store_commands_total');
const FAULTS = 'outcome=~"refused|node-open|store-down|store-saturated|store-slow"';

export const STORE: Row = {
  title: 'L2: the stores',
  panels: [
    {
      kind: 'states',
      title: 'State of the stores',
      description:
        'The worst state that any process sees. Degraded: some nodes are away. Down: every search passes to the engine or L1.',
      unit: 'none',
      width: 12,
      queries: [{ expression: max('domain', ofDomain('serpcache_store_state')), legend: '{{domain}}' }],
      states: PART_STATES,
      alerts: ['SerpcacheStoreAway'],
    },
    {
      kind: 'states',
      title: 'Breakers of the nodes',
      description:
        'Open: the process does not ask this node, because its commands failed or came late; its keys miss. It closes by itself when the node answers again.',
      unit: 'none',
      width: 12,
      queries: [
        {
          expression: max('domain, node', ofDomain('serpcache_store_node_breaker_state')),
          legend: '{{domain}} {{node}}',
        },
      ],
      states: BREAKER_STATES,
      alerts: ['SerpcacheStoreNodeAway'],
    },
    {
      kind: 'states',
      title: 'Connections to the nodes',
      description:
        'Away: at least one process has no usable connection to the node. Is the node up, and reachable from that process?',
      unit: 'none',
      width: 12,
      queries: [
        {
          expression: `min by (domain, node) (${ofDomain('serpcache_store_node_connected')})`,
          legend: '{{domain}} {{node}}',
        },
      ],
      states: REACHED,
      alerts: ['SerpcacheStoreNodeAway'],
    },
    {
      kind: 'lines',
      title: 'Commands',
      description: 'Commands per second by operation. Reads without searches: a warm-up, a shadow or a flush.',
      unit: 'ops',
      width: 12,
      min: 0,
      queries: [{ expression: sum('operation', rate(COMMANDS)), legend: '{{operation}}' }],
    },
    {
      kind: 'lines',
      title: 'Failed commands',
      description:
        'Share of the commands that were refused, late or had no usable node. Each failed read is a miss. `other` is the control store. store-slow: a loaded node or network; store-saturated: too many commands wait here.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      queries: [
        {
          expression: `(${orZero('domain', sum('domain', rate(ofDomain('serpcache_store_commands_total', FAULTS))), COMMANDS)}) / ${sum('domain', rate(COMMANDS))}`,
          legend: '{{domain}}',
        },
      ],
      thresholds: { below: 'green', steps: [{ above: 0.01, color: 'red' }] },
      alerts: ['SerpcacheStoreCommandsFailing'],
    },
    {
      kind: 'lines',
      title: 'Failed commands by result',
      description: 'The same by result, per second. It is one line at 0 until the first failure.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [
        {
          expression: orNone(sum('outcome', rate(ofDomain('serpcache_store_commands_total', FAULTS)))),
          legend: '{{outcome}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Late replies',
      description:
        'Replies after their deadline. Late hits are pages that the engine computed once more: with many of them raise `store.deadline`, or look for slow commands on the node.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [
        {
          expression: sum('outcome', rate(ofDomain('serpcache_store_late_replies_total'))),
          legend: 'late {{outcome}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Duration of commands, p99',
      description:
        'Time until a command was answered or given up, by operation. A flat line at the deadline: the node does not answer. It rises with the event loop too: compare with Process.',
      unit: 's',
      width: 12,
      log: true,
      queries: [
        {
          expression: quantile(0.99, 'operation', ofDomain('serpcache_store_command_duration_seconds_bucket')),
          legend: '{{operation}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Duration of reads by domain',
      description:
        'p50 and p99 of reads. p50 is the network and the node; p99 alone is queueing, a fork or a slow command.',
      unit: 's',
      width: 12,
      log: true,
      queries: [
        {
          expression: quantile(
            0.99,
            'domain',
            ofDomain('serpcache_store_command_duration_seconds_bucket', 'operation="read"'),
          ),
          legend: '{{domain}} p99',
        },
        {
          expression: quantile(
            0.5,
            'domain',
            ofDomain('serpcache_store_command_duration_seconds_bucket', 'operation="read"'),
          ),
          legend: '{{domain}} p50',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Connections opened, closed and failed',
      description:
        'Per second. A healthy fleet opens none after its start. A steady rate is churn: `maxclients`, `timeout` or a proxy closes them, or a node fails TLS or AUTH.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [{ expression: sum('state', rate(ofDomain('serpcache_store_connections_total'))), legend: '{{state}}' }],
      alerts: ['SerpcacheConnectionChurn'],
    },
    {
      kind: 'lines',
      title: 'Commands outstanding',
      description:
        'Commands sent to a node and not yet answered, all processes. One node above the others: a hot shard, or a slow one.',
      unit: 'short',
      width: 8,
      min: 0,
      queries: [
        {
          expression: sum('domain, node', ofDomain('serpcache_store_node_outstanding')),
          legend: '{{domain}} {{node}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Changes of topology and of breakers',
      description:
        'Per second. Topology: slots moved, or a failover. Breakers: nodes given up and taken back. Both are 0 in quiet times.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [
        { expression: `sum(${rate(ofDomain('serpcache_store_topology_changes_total'))})`, legend: 'topology' },
        {
          expression: sum('state', rate(ofDomain('serpcache_store_breaker_transitions_total'))),
          legend: 'breaker {{state}}',
        },
      ],
    },
  ],
};

export const PIPELINES: Row = {
  title: 'Pipelines',
  panels: [
    {
      kind: 'lines',
      title: 'Commands per pipeline',
      description:
        'Only batches use pipelines: searches of one `/msearch`, and entries written back. Larger ones are larger batches, not trouble. 0 until the first.',
      unit: 'short',
      width: 8,
      min: 0,
      queries: [
        {
          expression: orNone(
            ratio(
              'type',
              ofProcess('serpcache_store_pipeline_commands_sum'),
              ofProcess('serpcache_store_pipeline_commands_count'),
            ),
          ),
          legend: '{{type}} mean',
        },
        {
          expression: orNone(quantile(0.99, 'type', ofProcess('serpcache_store_pipeline_commands_bucket'))),
          legend: '{{type}} p99',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Duration of pipelines',
      description:
        'From sending to the last reply; 0 until the first pipeline. Longer at the same size: a slow node, a full network, or a late event loop.',
      unit: 's',
      width: 8,
      log: true,
      queries: [
        {
          expression: orNone(quantile(0.99, 'type', ofProcess('serpcache_store_pipeline_duration_seconds_bucket'))),
          legend: '{{type}} p99',
        },
        {
          expression: orNone(quantile(0.5, 'type', ofProcess('serpcache_store_pipeline_duration_seconds_bucket'))),
          legend: '{{type}} p50',
        },
      ],
      alerts: ['RedisPipelineStalling'],
    },
    {
      kind: 'lines',
      title: 'Failures in pipelines',
      description:
        'Pipelines with at least one failed command, and the failed commands in them. Each one is a miss or an entry not stored.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [
        {
          expression: sum('type', rate(ofProcess('redis_pipeline_execution_failures_total'))),
          legend: '{{type}} pipelines',
        },
        {
          expression: sum('type', rate(ofProcess('serpcache_store_pipeline_failed_replies_total'))),
          legend: '{{type}} commands',
        },
      ],
      alerts: ['RedisPipelineStalling'],
    },
  ],
};
