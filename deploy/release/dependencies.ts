import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The packages of an installation beside serpcache, by the lockfile. */

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  /** Only for development. */
  readonly dev?: boolean;
  readonly [more: string]: unknown;
}

export interface Lockfile {
  readonly name: string;
  readonly version: string;
  readonly lockfileVersion: number;
  /** By their folder, `node_modules/fastify`; the empty name is the project. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

export interface ProductionPackage {
  readonly name: string;
  readonly version: string;
  /** By SPDX: `MIT`. */
  readonly licence: string;
}

/**
 * Licences that put no condition on serpcache beyond keeping their text, which stays in node_modules. Another one needs a
 * decision: its line here.
 */
export const ALLOWED_LICENCES: readonly string[] = [
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
];

export function readManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

export function readLockfile(root: string): Lockfile {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
}

/** Every package that an installation holds, in the order of their names. */
export function productionPackages({ packages }: Lockfile): readonly ProductionPackage[] {
  return inProduction(packages)
    .map(([folder, { version = '', license = 'none stated' }]) => ({
      name: folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      licence: license,
    }))
    .toSorted((one, other) => compare(one.name, other.name) || compare(one.version, other.version));
}

function inProduction(packages: Lockfile['packages']): (readonly [folder: string, LockedPackage])[] {
  return Object.entries(packages).filter(([folder, { dev = false }]) => folder !== '' && !dev);
}

/** By code points: the order must not depend on the machine's language. */
function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The package.json of the published package. */
export function publishedManifest({ name, version, description, license, type, dependencies }: Manifest) {
  return {
    name,
    version,
    description,
    license,
    type,
    bin: { serpcache: 'dist/bin/serpcache.mjs', 'serpcache-server': 'dist/bin/serpcache-server.mjs' },
    // An older Node only starts a newer one, which src/bootstrap.mjs installs.
    engines: { node: '>=18' },
    dependencies,
  };
}

/** `npm ci` in the unpacked package installs the versions of this file, and so does an installation from a registry. */
export function shrinkwrap(lockfile: Lockfile, manifest: Manifest): object {
  const { name, version, license, bin, engines, dependencies } = publishedManifest(manifest);
  return {
    name,
    version,
    lockfileVersion: lockfile.lockfileVersion,
    requires: true,
    packages: {
      '': { name, version, license, dependencies, bin, engines },
      ...Object.fromEntries(inProduction(lockfile.packages)),
    },
  };
}

/** The page of licences. @throws when a package has a licence that is not allowed. */
export function licencesPage(packages: readonly ProductionPackage[]): string {
  const refused = packages.filter(({ licence }) => !isAllowed(licence));
  if (refused.length > 0) {
    const list = refused.map(({ name, version, licence }) => `${name} ${version} (${licence})`).join(', ');
    throw new Error(`not allowed: ${list}; allowed: ${ALLOWED_LICENCES.join(', ')} (deploy/release/dependencies.ts)`);
  }
  const groups = Map.groupBy(packages, ({ licence }) => licence);
  const rows = [...groups]
    .toSorted(([one], [other]) => compare(one, other))
    .map(([licence, members]) => {
      // A package may stand in several folders.
      const list = [...new Set(members.map(({ name, version }) => `${name} ${version}`))].join(', ');
      return `| ${licence} | ${list} |`;
    });
  return [
    '# Licences',
    '',
    'serpcache itself is under the [MIT licence](../../LICENSE). An installation also holds the packages below; the text of a licence,',
    'where its package has one, is in the folder of the package.',
    '',
    '| licence | packages |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** `MIT OR Apache-2.0` lets us choose; everything else must be allowed as it stands. */
function isAllowed(licence: string): boolean {
  const choices = licence.replace(/^\((.*)\)$/, '$1').split(' OR ');
  return choices.some((choice) => ALLOWED_LICENCES.includes(choice));
}
