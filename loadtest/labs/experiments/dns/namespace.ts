import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../kit/programs.ts';
import { startNameServer } from './name-server.ts';

/** On loopback, and nobody's: systemd-resolved has 127.0.0.53, others 127.0.0.1. */
export const NAME_SERVER = '127.83.0.53';
const [RESOLV, NSSWITCH] = ['/etc/resolv.conf', '/etc/nsswitch.conf'];
const TRY_LIMIT_MS = 5000;

/**
 * A command whose process asks our name server, and nobody else on this machine does: glibc knows its resolver from
 * /etc/resolv.conf alone, so the process gets a mount namespace with one of its own over it, and an nsswitch.conf
 * without /etc/hosts, mDNS and systemd-resolved. Both end with the process.
 * @param folder where the two files are written.
 */
export function inNamespace(folder: string, words: readonly string[]): readonly string[] {
  const [resolv, nsswitch] = [join(folder, 'resolv.conf'), join(folder, 'nsswitch.conf')];
  writeFileSync(resolv, `nameserver ${NAME_SERVER}\n`);
  writeFileSync(nsswitch, 'hosts: dns\n');
  const mounts = [`mount --bind "$1" ${RESOLV}`, ...(existsSync(NSSWITCH) ? [`mount --bind "$2" ${NSSWITCH}`] : [])];
  const script = `${mounts.join(' && ')} && shift 2 && exec "$@"`;
  return ['unshare', '-m', '--propagation', 'private', 'sh', '-c', script, 'sh', resolv, nsswitch, ...words];
}

/** Asks a name in such a namespace. Undefined: the question came to our name server, and its answer back. */
export async function cannotResolve(): Promise<string | undefined> {
  const needs = `needs Linux, root for a mount namespace with a resolv.conf of its own, and UDP port 53 of ${NAME_SERVER}`;
  const folder = await mkdtemp(join(tmpdir(), 'serpcache-dns-'));
  try {
    const server = await startNameServer(NAME_SERVER);
    try {
      const ask = `require('node:dns').lookup('ready.serpcache.test', (error, address) => console.log(error ?? address))`;
      const [command = '', ...args] = inNamespace(folder, [process.execPath, '-e', ask]);
      const { output } = await runProgram({ command, args, limitMs: TRY_LIMIT_MS });
      if (output.trim() === '127.0.0.1' && server.asked() > 0) return undefined;
      return `${needs}: the name resolved as ${output.trim()}`;
    } finally {
      await server.stop();
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      return `another run of it has UDP port 53 of ${NAME_SERVER}: wait until that one is over`;
    return `${needs}: ${error instanceof Error ? error.message.split('\n')[0] : error}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
