/** What an error means: for the reader, for the node's breaker, and for the map of slots. */
export type Failure =
  /** Another node has it (`ask`: for this one command only). Says nothing against this node. */
  | { readonly kind: 'redirect'; readonly to: string; readonly ask: boolean }
  /** The node lives and will not do this one thing: OOM, READONLY, MISCONF, NOPERM, WRONGTYPE, a slot without owner. */
  | { readonly kind: 'refused'; readonly remap: boolean }
  /** The node can do nothing at present: it loads its data, runs a script, lost its cluster; or there is no connection. */
  | { readonly kind: 'down' };

/** Replies by which a node says of itself that it serves nobody. */
const NODE_IS_DOWN = /^(LOADING|MASTERDOWN|BUSY|CLUSTERDOWN|NOAUTH|WRONGPASS|ERR max number of clients)\b/;

/** Classifies what ioredis rejected a command with. Error replies begin with a word in capitals; all else is transport. */
export function classify(error: Error): Failure {
  const { message } = error;
  const redirect = /^(MOVED|ASK) \d+ (\S+)$/.exec(message);
  if (redirect) return { kind: 'redirect', to: redirect[2] ?? '', ask: redirect[1] === 'ASK' };
  // One slot nobody owns must not open the breaker of a node that serves thousands of others.
  if (message.startsWith('CLUSTERDOWN Hash slot')) return { kind: 'refused', remap: true };
  if (NODE_IS_DOWN.test(message)) return { kind: 'down' };
  return error.name === 'ReplyError' ? { kind: 'refused', remap: message.startsWith('READONLY') } : { kind: 'down' };
}
