import type { StoreReason } from '../../cache/store.ts';

/**
 * The meaning of the errors of servers and connections: for one command, and as one word of a closed set, which the log,
 * `/readyz` and the admin listener show. Messages of servers may hold addresses.
 */

/** The meaning of a command's error for the caller, for the node's breaker, and for the slot map. */
export type CommandFailure =
  /** Another node has the slot (`ask`: for this one command only). This is no failure of this node. */
  | { readonly kind: 'redirect'; readonly to: string; readonly ask: boolean }
  /** The node is up and refuses this one command: OOM, READONLY, MISCONF, NOPERM, WRONGTYPE, a slot without owner. */
  | { readonly kind: 'refused'; readonly refreshSlots: boolean }
  /** The node executes nothing now: it loads its data, runs a script, lost its cluster; or there is no connection. */
  | { readonly kind: 'down' };

/** Replies by which a node says that it serves no client. */
const NODE_IS_DOWN = /^(LOADING|MASTERDOWN|BUSY|CLUSTERDOWN|NOAUTH|WRONGPASS|ERR max number of clients)\b/;

/** A replica's refusal of a write. Before Redis 7, that of a script begins with the script's place. */
export const WRITE_REFUSED = /^READONLY\b|^ERR [^\n]*-READONLY\b/;

/** Classifies an error of ioredis. Error replies begin with a word in capitals; all others are transport errors. */
export function classifyError(error: Error): CommandFailure {
  const { message } = error;
  const redirect = /^(MOVED|ASK) \d+ (\S+)$/.exec(message);
  if (redirect) return { kind: 'redirect', to: redirect[2] ?? '', ask: redirect[1] === 'ASK' };
  // One slot without an owner must not open the breaker of a node that serves thousands of others.
  if (message.startsWith('CLUSTERDOWN Hash slot')) return { kind: 'refused', refreshSlots: true };
  if (NODE_IS_DOWN.test(message)) return { kind: 'down' };
  if (error.name !== 'ReplyError') return { kind: 'down' };
  return { kind: 'refused', refreshSlots: WRITE_REFUSED.test(message) };
}

const REASONS: readonly (readonly [StoreReason, RegExp])[] = [
  ['credentials', /\b(NOAUTH|WRONGPASS|NOPERM)\b|invalid password|without any password|no password is set/],
  ['read-only', /\bREADONLY\b/],
  ['loading', /\b(LOADING|MASTERDOWN)\b/],
  ['cluster-down', /\bCLUSTERDOWN\b/],
  ['no-cluster', /cluster support disabled/i],
  ['full', /max number of clients/i],
  ['database', /^database \d/],
  ['unknown-host', /\b(ENOTFOUND|EAI_\w+)\b/],
  ['refused', /\b(ECONNREFUSED|ENOENT|EACCES|DENIED)\b/],
  ['timeout', /ETIMEDOUT|time(?:d )?out/i],
  ['unreachable', /\b(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN)\b/],
  // After the codes of the network: a TLS connection that cannot be made is no fault of TLS.
  ['tls', /certificate|\b(CERT_|ERR_TLS|ERR_SSL|EPROTO)|secure TLS|altnames|self.signed|wrong version number/i],
  ['protocol', /no RESP|neither a string|that is no |no command waits|too large|Protocol error|nothing was answered/i],
  ['no-master', /sentinel/i],
  ['closed', /ECONNRESET|EPIPE|closed|ended/i],
];

export function storeReasonOf(text: string): StoreReason {
  return REASONS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'other';
}

/** Whether another address could help. */
export function isOfNetwork(reason: StoreReason): boolean {
  return reason === 'refused' || reason === 'timeout' || reason === 'unreachable' || reason === 'unknown-host';
}

/** The text of an error for an operator. A name with several addresses fails with an error that has a code and no message. */
export function detailOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error.message === '') return code || error.name;
  return code === '' || error.message.includes(code) ? error.message : `${code} ${error.message}`;
}
