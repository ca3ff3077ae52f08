import { type FaultProxy, type ProxyOptions, startRelay } from './relay.ts';
import { type Answer, type Command, createRespMiddle } from './resp-middle.ts';

export type Match = (command: Command) => Answer | undefined;

export interface RespProxy extends FaultProxy {
  /** Asked for every command of every connection, in order; undefined lets it pass. Without `match`: all pass. */
  readonly answer: (match?: Match) => void;
  /** Replies reach the client that much later (in order). 0: at once. */
  readonly delay: (delayMs: number) => void;
  /** Commands seen since the start or `resetCounts`, by upper-case name; at most 256 names. */
  readonly counts: () => ReadonlyMap<string, number>;
  /** How many of them `answer` had something for. */
  readonly answered: () => number;
  readonly resetCounts: () => void;
}

const MOST_NAMES = 256;
const MOST_NAME_BYTES = 32;

/**
 * A proxy before one Redis or Valkey node that knows commands and replies apart, pipelining included. For a client that
 * asks and is answered: SUBSCRIBE of RESP2, MONITOR, CLIENT REPLY and replication do not fit, and TLS it cannot read.
 * A connection that carries no RESP is reset.
 */
export async function startRespProxy(options: ProxyOptions): Promise<RespProxy> {
  const counts = new Map<string, number>();
  let answered = 0;
  let delayMs = 0;
  let match: Match | undefined;

  const seen = (command: Command): Answer | undefined => {
    const name = (command[0]?.toString('latin1', 0, MOST_NAME_BYTES) ?? '').toUpperCase();
    const count = counts.get(name);
    if (count !== undefined || counts.size < MOST_NAMES) counts.set(name, (count ?? 0) + 1);
    const answer = match?.(command);
    if (answer !== undefined) answered += 1;
    return answer;
  };
  const proxy = await startRelay({
    ...options,
    createMiddle: (wire) => createRespMiddle(wire, { seen, delayMs: () => delayMs }),
  });
  return {
    ...proxy,
    answer: (next) => {
      match = next;
    },
    delay: (nextMs) => {
      delayMs = nextMs;
    },
    counts: () => counts,
    answered: () => answered,
    resetCounts: () => {
      counts.clear();
      answered = 0;
    },
  };
}
