import { readFileSync } from 'node:fs';
import { productionPackages, readLockfile } from '../release/dependencies.ts';
import { hold } from './checker.ts';
import { ROOT } from './tools.ts';

/** The part of CycloneDX that is compared. */
interface Bom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly NamedVersion[];
}

interface NamedVersion {
  readonly name: string;
  readonly version: string;
}

export function packageText({ name, version }: NamedVersion): string {
  return `${name}@${version}`;
}

/**
 * The lockfile, what is installed by it, and what the SBOM lists are the same packages.
 * @param installed as `packageText` writes them.
 * @returns how many they are.
 */
export function checkSbom(file: string, installed: ReadonlySet<string>): number {
  const bom: Bom = JSON.parse(readFileSync(file, 'utf8'));
  hold(bom.bomFormat === 'CycloneDX', `${file} is ${bom.bomFormat}`);
  hold(bom.metadata.component.name === 'serpcache', `${file} is of ${bom.metadata.component.name}`);
  const locked = new Set(productionPackages(readLockfile(ROOT)).map(packageText));
  for (const [where, packages] of [
    ['installed', installed],
    ['in the SBOM', new Set(bom.components.map(packageText))],
  ] as const) {
    for (const each of locked) hold(packages.has(each), `${each} of the lockfile is not ${where}`);
    // Packages of development among them.
    for (const each of packages) hold(locked.has(each), `${each} is ${where}, and not in the lockfile for production`);
  }
  return locked.size;
}
