import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './tools.ts';

/** The files of deploy/redis as their servers read them, and the bounds that follow from their values. */

const FOLDER = join(ROOT, 'deploy', 'redis');
const SECOND_MS = 1000;

export function pathOf(file: string): string {
  return join(FOLDER, file);
}

export function textOf(file: string): string {
  return readFileSync(pathOf(file), 'utf8');
}

/** The directives of a file, without comments and empty lines. */
export function directivesOf(file: string): readonly string[] {
  return textOf(file)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** The directives that a file has as comments, `# port 0` or `# tls-cluster yes`, of which the name matches. */
export function optionalDirectivesOf(file: string, name: RegExp): readonly string[] {
  return textOf(file)
    .split('\n')
    .flatMap((line) => {
      const [, directive = '', word = ''] = /^# (([a-z-]+) \S+)$/.exec(line) ?? [];
      return name.test(word) ? [directive] : [];
    });
}

/** @param name of one directive; of Sentinel with the name of its master: `sentinel down-after-milliseconds serpcache`. */
export function directiveOf(file: string, name: string): string {
  const found = directivesOf(file).filter((line) => line.startsWith(`${name} `));
  const [line = ''] = found;
  if (found.length !== 1) throw new Error(`deploy/redis/${file}: ${name} stands there ${found.length} times, not once`);
  return line.slice(name.length + 1).replace(/^"(.*)"$/, '$1');
}

export function numberOf(file: string, name: string): number {
  const text = directiveOf(file, name);
  const [, digits = '', unit = ''] = /^(\d+)(kb|mb|gb)?$/.exec(text) ?? [];
  if (digits === '') throw new Error(`deploy/redis/${file}: ${name} is "${text}", not a number`);
  return Number(digits) * 1024 ** ['', 'kb', 'mb', 'gb'].indexOf(unit);
}

interface SentinelTimes {
  readonly downAfterMs: number;
  readonly failoverTimeoutMs: number;
}

export function sentinelTimes(): SentinelTimes {
  return {
    downAfterMs: numberOf('sentinel.conf', 'sentinel down-after-milliseconds serpcache'),
    failoverTimeoutMs: numberOf('sentinel.conf', 'sentinel failover-timeout serpcache'),
  };
}

/** Sentinel pings, asks the others and starts once a second each (SENTINEL_PING_PERIOD, ASK_PERIOD, MAX_DESYNC). */
const PERIODS = 3;
/** An election ends after the smaller of this and failover-timeout (SENTINEL_ELECTION_TIMEOUT). */
const MAX_ELECTION_MS = 10 * SECOND_MS;

/** The longest time from the loss of a master until another one takes writes, when the first attempt succeeds. */
export function failoverBoundMs({ downAfterMs, failoverTimeoutMs }: SentinelTimes): number {
  return downAfterMs + PERIODS * SECOND_MS + Math.min(MAX_ELECTION_MS, failoverTimeoutMs) + failoverTimeoutMs;
}

/** The same with one failed attempt: the next one begins after twice failover-timeout. */
export function repeatedFailoverBoundMs(times: SentinelTimes): number {
  return failoverBoundMs(times) + 2 * times.failoverTimeoutMs;
}

/**
 * The same for a cluster: a node suspects after the node timeout, the majority agrees within another one, a replica waits
 * 500 ms and up to 500 ms at random, its election ends after two node timeouts, and a failed one is repeated after four.
 */
export function clusterFailoverBoundMs(nodeTimeoutMs: number): number {
  return 2 * nodeTimeoutMs + SECOND_MS + (2 + 4) * nodeTimeoutMs;
}

interface ReplicaRule {
  readonly minReplicas: number;
  readonly maxLagSeconds: number;
}

export function replicaRule(): ReplicaRule {
  return {
    minReplicas: numberOf('replicas.conf', 'min-replicas-to-write'),
    maxLagSeconds: numberOf('replicas.conf', 'min-replicas-max-lag'),
  };
}

/** Sentinel promotes no replica whose link has been broken for longer than this many times down-after-milliseconds. */
const MAX_BROKEN = 10;

/**
 * How old a write may be that is lost with its master. Nobody asks a replica how far it is: one that says nothing counts as linked
 * for repl-timeout, and may be promoted while its link is broken. Only a master that refuses writes without it sets a bound before.
 */
export function lossWindowMs(rule: ReplicaRule, { downAfterMs }: SentinelTimes, replTimeoutMs: number): number {
  return rule.minReplicas > 0 ? partitionWindowMs(rule) : replTimeoutMs + MAX_BROKEN * downAfterMs;
}

/**
 * How long a master that sees no replica and no sentinel goes on acknowledging writes, which it loses when it is reached
 * again. It counts its replicas once a second, in whole seconds.
 */
export function partitionWindowMs({ minReplicas, maxLagSeconds }: ReplicaRule): number {
  return minReplicas === 0 ? Number.POSITIVE_INFINITY : (maxLagSeconds + 2) * SECOND_MS;
}

/** The backlog from which a replica resumes that was cut off for `outageSeconds`. */
export function backlogBytes(options: { readonly bytesPerSecond: number; readonly outageSeconds: number }): number {
  return options.bytesPerSecond * options.outageSeconds;
}

/** The wait before each start of a server with replicas. */
export function startDelayMs(): number {
  const [, seconds = ''] = /^ExecStartPre=\/bin\/sleep (\d+)$/m.exec(textOf('replicas.service.conf')) ?? [];
  if (seconds === '') throw new Error('deploy/redis/replicas.service.conf: no ExecStartPre=/bin/sleep SECONDS');
  return Number(seconds) * SECOND_MS;
}
