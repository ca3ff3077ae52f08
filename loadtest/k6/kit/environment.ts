export type Env = Readonly<Record<string, string | undefined>>;

/** The hosts that get the load. Redirects to other hosts are not followed. */
export interface Target {
  /** At least one, used in turn. Without a slash at the end. */
  readonly baseUrls: readonly string[];
  /** With an address of every process all engine calls are counted; with fewer, a part of them. */
  readonly adminUrls: readonly string[];
  readonly token?: string;
}

const URL_TEXT = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:\/[^\s?#]*)?$/i;
const ALLOWED = 'http(s)://host[:port], several with commas between; no name and password, no query';

/**
 * Reads the target. There is no default: a host gets load only if it was named.
 * @param needsAdmin the script acts as an operator: flushes, drills.
 * @throws Error with every fault, each with the variable's name and what is allowed.
 */
export function readTarget(env: Env, needsAdmin = false): Target {
  const faults: string[] = [];
  const urls = (name: string, why?: string): readonly string[] => {
    const list = (env[name] ?? '').split(',').flatMap((one) => one.trim().replace(/\/+$/, '') || []);
    if (list.length === 0 && why !== undefined) faults.push(`${name} is missing: ${why}; allowed: ${ALLOWED}`);
    for (const one of list)
      if (!URL_TEXT.test(one)) faults.push(`${name}: "${one}" is no address; allowed: ${ALLOWED}`);
    return list;
  };
  const baseUrls = urls('BASE_URL', 'load goes only to hosts that were named');
  const adminUrls = urls('ADMIN_URL', needsAdmin ? 'this script flushes the cache through it' : undefined);
  const token = env['ADMIN_TOKEN'] || undefined;
  if (needsAdmin && token === undefined) faults.push('ADMIN_TOKEN is missing: this script flushes the cache with it');
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return { baseUrls, adminUrls, token };
}

const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?(?:\/|$)/i;

/**
 * A permanent flush cannot be undone, so it needs a confirmation for every host that other people may use.
 * @throws Error that names the variable and the hosts.
 */
export function confirmFlush(env: Env, { baseUrls, adminUrls }: Target): void {
  const far = [...baseUrls, ...adminUrls].filter((url) => !LOOPBACK.test(url));
  if (far.length === 0 || env['FLUSH'] === 'yes') return;
  throw new Error(
    `FLUSH is "${env['FLUSH'] ?? ''}": this script flushes the cache of ${far.join(', ')} for good; FLUSH=yes allows it`,
  );
}

/** @throws Error that names the variable and what is allowed, also if it is missing and there is no default. */
export function numberOf(
  env: Env,
  name: string,
  [least, most]: readonly [least: number, most: number],
  otherwise?: number,
): number {
  const text = env[name];
  if (text === undefined || text === '') {
    if (otherwise !== undefined) return otherwise;
    throw new Error(`${name} is missing; allowed: a number from ${least} to ${most}`);
  }
  const value = Number(text);
  if (value >= least && value <= most) return value;
  throw new Error(`${name}: "${text}" is not allowed; a number from ${least} to ${most} is`);
}
