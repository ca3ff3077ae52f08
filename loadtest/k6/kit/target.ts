/** Where the load goes. Only there: redirects are not followed. */
export interface Target {
  /** At least one; requests go to them in turn. Without a slash at the end. */
  readonly baseUrls: readonly string[];
  /** Of every process, or what engine calls cost is known in part only. */
  readonly adminUrls: readonly string[];
  readonly token?: string;
}

const URL_TEXT =
  /^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?(?:\/[^\s?#]*)?$|^https?:\/\/\[[0-9a-f:.]+\](?::\d{1,5})?(?:\/[^\s?#]*)?$/i;
const ALLOWED = 'http(s)://host[:port], several with commas between; no name and password, no query';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Load is sent to nobody who was not named: there is no default.
 * @param needsAdmin the script acts as an operator: flushes, drills.
 * @throws Error with every fault, each with the variable's name and what is allowed.
 */
export function readTarget(env: Env, needsAdmin = false): Target {
  const faults: string[] = [];
  const urls = (name: string, why: string | undefined): readonly string[] => {
    const given = (env[name] ?? '').split(',').map((one) => one.trim().replace(/\/+$/, ''));
    const list = given.filter((one) => one !== '');
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
  return { baseUrls, adminUrls, ...(token === undefined ? {} : { token }) };
}
