import { findSharedStores } from './claims.ts';
import { checkDomain } from './cross-domain.ts';
import { checkStore } from './cross-store.ts';
import { HIDDEN, MISSING, type RawFault, showValue } from './faults.ts';
import { isLoopback, isNetwork } from './network.ts';
import type { Config, Draft } from './schema.ts';
import { TOKEN_ALLOWED } from './schema-process.ts';
import { MIN_SHARE_BYTES, shareMemory } from './shares.ts';
import { namedStores } from './stores.ts';
import { checkTls } from './tls.ts';
import { formatSize } from './units.ts';

/** Faults between values that are each allowed. A value already at fault is a hole here, and nothing is said about it. */
export function crossCheck(config: Draft<Config>): readonly RawFault[] {
  const domains = Object.entries(config.domains ?? {});
  return [
    ...checkListeners(config),
    ...checkProxies(config),
    ...checkMemory(config),
    ...checkSigning(config),
    ...namedStores(config).flatMap(checkStore),
    ...checkTls(config),
    ...findSharedStores(config),
    ...domains.flatMap(([name, domain]) => (domain === undefined ? [] : checkDomain(name, domain))),
  ];
}

function checkListeners({ public: open, admin }: Draft<Config>): readonly RawFault[] {
  const faults: RawFault[] = [];
  if (admin?.token !== undefined && new Set(admin.token).size < MIN_DISTINCT) {
    faults.push({ path: ['admin', 'token'], value: HIDDEN, allowed: TOKEN_ALLOWED });
  }
  if (admin?.host !== undefined && admin.token === undefined && !isLoopback(admin.host)) {
    faults.push({
      path: ['admin', 'token'],
      value: MISSING,
      allowed: `a token, as admin.host ${JSON.stringify(admin.host)} is not a loopback address`,
    });
  }
  if (open?.port !== undefined && open.port !== 0 && open.port === admin?.port && overlaps(open.host, admin.host)) {
    faults.push({ path: ['admin', 'port'], value: String(admin.port), allowed: 'another port than public.port' });
  }
  return faults;
}

/** Fewer are no accident: a word that was drawn out until it was long enough. */
const MIN_DISTINCT = 8;

function checkProxies({ public: open }: Draft<Config>): readonly RawFault[] {
  const faults = (open?.trustedProxies ?? []).flatMap((network, index): RawFault[] => {
    if (network === undefined || isNetwork(network)) return [];
    const allowed = 'an IP address or a network, such as 10.0.0.0/8 or fd00::/8';
    return [{ path: ['public', 'trustedProxies', index], value: showValue(network), allowed }];
  });
  // Whoever may name himself has as many budgets as names.
  if (open?.clientHeader !== undefined && open.trustedProxies?.length === 0) {
    const allowed = 'nothing without trustedProxies: from anybody else a header is only a claim';
    faults.push({ path: ['public', 'clientHeader'], value: showValue(open.clientHeader), allowed });
  }
  return faults;
}

function checkMemory({ memory, domains }: Draft<Config>): readonly RawFault[] {
  const total = memory?.maxBytes;
  const members = Object.values(domains ?? {});
  if (total === undefined || members.length === 0) return [];
  const asked = members.map((domain) => domain?.memory?.maxBytes);
  if (shareMemory(total, asked).fits) return [];
  const taken = asked.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
  const without = asked.filter((bytes) => bytes === undefined).length;
  const rest = without === 0 ? '' : `, and ${formatSize(MIN_SHARE_BYTES)} for each of the ${without} others`;
  const needed = taken + without * MIN_SHARE_BYTES;
  return [
    {
      path: ['memory', 'maxBytes'],
      value: formatSize(total),
      allowed: `at least ${formatSize(needed)}: the domains ask for ${formatSize(taken)}${rest}`,
    },
  ];
}

function checkSigning({ signing }: Draft<Config>): readonly RawFault[] {
  if (signing === undefined) return [];
  const { key, previousKey, acceptUnsigned } = signing;
  const fault = (name: string, value: string, allowed: string): RawFault[] => [
    { path: ['signing', name], value, allowed },
  ];
  if (key !== undefined) return key === previousKey ? fault('previousKey', HIDDEN, 'another key than signing.key') : [];
  return [
    ...(previousKey === undefined ? [] : fault('previousKey', HIDDEN, 'nothing without signing.key')),
    ...(acceptUnsigned === true ? fault('acceptUnsigned', 'true', 'nothing without signing.key') : []),
  ];
}

/** Whether two listeners on one port would meet. */
function overlaps(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const isWildcard = (address: string): boolean => address === '0.0.0.0' || address === '::';
  return (
    a === b ||
    isWildcard(a) ||
    isWildcard(b) ||
    (a === 'localhost' && isLoopback(b)) ||
    (b === 'localhost' && isLoopback(a))
  );
}
