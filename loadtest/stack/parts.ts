import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** A program of Debian's archive that tests, loads or checks start. */
export interface Part {
  readonly name: string;
  readonly packages: readonly string[];
  readonly programs: readonly string[];
  /** Further files by which an installed part is known. */
  readonly files?: readonly string[];
  /** In Debian 12 it is only in the suite of backports, or only there new enough. */
  readonly backports?: true;
  /** The oldest version of the first package that will do. */
  readonly least?: string;
  /** The only module that starts it: a file of the project or a package of npm. */
  readonly startedBy?: string;
  /** Tests do not need it. */
  readonly byNameOnly?: true;
}

export const PARTS: readonly Part[] = [
  {
    name: 'redis',
    packages: ['redis-server', 'redis-sentinel', 'redis-tools'],
    programs: ['redis-server', 'redis-sentinel', 'redis-cli'],
    startedBy: 'loadtest/stack/redis-node.ts',
  },
  {
    name: 'valkey',
    packages: ['valkey-server', 'valkey-tools'],
    programs: ['valkey-server', 'valkey-cli'],
    backports: true,
    startedBy: 'loadtest/stack/redis-node.ts',
  },
  { name: 'wrk', packages: ['wrk'], programs: ['wrk'], byNameOnly: true },
  { name: 'nginx', packages: ['nginx'], programs: ['nginx'] },
  {
    name: 'nginx-lua',
    packages: ['nginx', 'libnginx-mod-http-lua', 'lua-nginx-redis'],
    programs: ['nginx'],
    files: ['/usr/lib/nginx/modules/ngx_http_lua_module.so', '/usr/share/lua/5.1/nginx/redis.lua'],
    byNameOnly: true,
  },
  { name: 'varnish', packages: ['varnish'], programs: ['varnishd', 'varnishadm'], byNameOnly: true },
  // Go 1.21 is the first that fetches the version a module asks for. Debian 12 itself has 1.19.
  { name: 'go', packages: ['golang-go'], programs: ['go'], backports: true, least: '2:1.21~', byNameOnly: true },
  // These four are for `npm run deploy:check`.
  { name: 'buildah', packages: ['buildah', 'iproute2'], programs: ['buildah', 'ip'], byNameOnly: true },
  { name: 'debootstrap', packages: ['debootstrap'], programs: ['debootstrap'], byNameOnly: true },
  {
    name: 'systemd',
    packages: ['systemd', 'systemd-container'],
    programs: ['systemd-analyze', 'systemd-nspawn'],
    byNameOnly: true,
  },
  {
    name: 'python',
    packages: ['python3', 'python3-venv'],
    programs: ['python3'],
    files: ['/usr/share/python-wheels'],
    byNameOnly: true,
  },
  {
    name: 'sphinx',
    packages: ['sphinxsearch'],
    programs: ['searchd', 'indexer'],
    startedBy: 'loadtest/stack/sphinx.ts',
  },
  { name: 'chromium', packages: ['chromium'], programs: ['chromium'], startedBy: 'playwright-core' },
  { name: 'openssl', packages: ['openssl'], programs: ['openssl'] },
  { name: 'prometheus', packages: ['prometheus'], programs: ['prometheus', 'promtool'] },
];

/** Installs those that are missing; the installer says what it does. @returns whether all are there */
export function areInstalled(names: readonly string[]): boolean {
  const installer = join(import.meta.dirname, 'install.ts');
  return spawnSync(process.execPath, [installer, ...names], { stdio: 'inherit' }).status === 0;
}

/** @throws when one of them cannot be installed */
export function installParts(names: readonly string[]): void {
  if (!areInstalled(names)) throw new Error('a server of the stack cannot be installed, see above');
}
