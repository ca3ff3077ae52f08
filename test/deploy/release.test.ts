import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { buildPackage } from '../../deploy/release/build.ts';
import {
  type Lockfile,
  licencesPage,
  productionPackages,
  publishedManifest,
  readLockfile,
  readManifest,
  shrinkwrap,
} from '../../deploy/release/dependencies.ts';
import { statedVersions } from '../../deploy/release/version.ts';
import { temporaryFolder } from '../folder.ts';
import { assertNone, pluck } from '../pluck.ts';

const root = join(import.meta.dirname, '..', '..');
const text = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8');

test('every file that states the version states that of package.json', () => {
  const { version } = readManifest(root);
  const stated = statedVersions(root);
  assert.equal(stated.length, 11);
  assertNone(stated, (one) => one.version !== version);
});

const CHANGES = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One thing.\n\n## [0.0.1] - 2026-01-01\n\n- Older.\n';

/** A repository of git with the files that a release writes. */
function repository(t: TestContext) {
  const folder = temporaryFolder(t);
  for (const file of [
    'package.json',
    'package-lock.json',
    'README.md',
    'README.ru.md',
    'deploy/helm/serpcache/Chart.yaml',
  ]) {
    cpSync(join(root, file), join(folder, file));
  }
  writeFileSync(join(folder, 'CHANGELOG.md'), CHANGES);
  const git = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: folder, env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example',
  };
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message', 'all');
  const release = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(root, 'deploy/release/release.ts'), ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
  return { folder, git, release };
}

test('a release is one commit with the version everywhere, and an annotated tag with its changes', (t) => {
  const { folder, git, release } = repository(t);
  const dry = release('minor', '--dry-run');
  assert.equal(dry.status, 0, dry.stderr);
  assert.match(dry.stdout, /nothing was written\n\n### Added\n\n- One thing\./);
  assert.equal(git('status', '--porcelain'), '');

  const { status, stdout, stderr } = release('99.0.0');
  assert.equal(status, 0, stderr);
  assert.match(stdout, /now: git push --atomic origin main v99\.0\.0/);
  assert.deepEqual(
    pluck(statedVersions(folder), 'version'),
    Array.from({ length: 11 }, () => '99.0.0'),
  );
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages[''].version, '99.0.0');
  assert.equal(git('log', '--format=%s'), 'release: 99.0.0\nall\n');
  assert.equal(git('status', '--porcelain'), '');
  assert.equal(git('cat-file', '-t', 'v99.0.0'), 'tag\n');
  assert.match(
    git('tag', '--list', '--format=%(contents)', 'v99.0.0'),
    /^serpcache 99\.0\.0\n\n### Added\n\n- One thing\.\n/,
  );

  assert.match(
    readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'),
    /^# Changelog\n\n## \[Unreleased\]\n\n## \[99\.0\.0\] - [\d-]+\n\n### Added\n\n- One thing\.\n\n## \[0\.0\.1\]/,
  );
  for (const [wanted, told] of [
    ['99.0.1', /nothing stands under \[Unreleased\]/],
    ['98.0.0', /is not newer than 99\.0\.0/],
    ['next', /a release is major, minor, patch or a version such as 1\.4\.0/],
  ] as const) {
    const refused = release(wanted);
    assert.notEqual(refused.status, 0);
    assert.match(refused.stderr, told);
  }
});

test('no release is made of a tree with changes, of another branch, or over a tag', (t) => {
  const { folder, git, release } = repository(t);
  const refused = (says: RegExp): void => {
    const { status, stderr } = release('99.0.0');
    assert.equal(status, 3, stderr);
    assert.match(stderr, says);
  };
  writeFileSync(join(folder, 'new'), '');
  refused(/the tree has changes: \?\? new/);
  rmSync(join(folder, 'new'));
  git('tag', 'v99.0.0');
  refused(/there is a tag v99\.0\.0 already/);
  git('checkout', '--quiet', '-b', 'feature');
  refused(/the branch is feature; allowed: main, master/);
  assert.equal(git('log', '--format=%s'), 'all\n');
});

test('a release that git refuses leaves the files as they were', (t) => {
  const { folder, git, release } = repository(t);
  writeFileSync(join(folder, '.git', 'hooks', 'commit-msg'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const { status, stderr } = release('99.0.0');
  assert.equal(status, 3);
  assert.match(stderr, /nothing was released, the files are as before: git commit: exit status 1/);
  assert.equal(git('status', '--porcelain'), '');
});

test('no package is built over a folder that is something else', async (t) => {
  const out = temporaryFolder(t);
  mkdirSync(join(out, 'serpcache'));
  writeFileSync(join(out, 'serpcache', 'mine'), '');
  await assert.rejects(buildPackage({ root, out }), /is there and is no earlier package/);
});

test('the page of licences lists what an installation holds, and every licence is allowed', () => {
  assert.equal(text('deploy', 'release', 'licences.md'), licencesPage(productionPackages(readLockfile(root))));
  const other: Lockfile = {
    name: 'x',
    version: '1.0.0',
    lockfileVersion: 3,
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0', license: 'GPL-3.0-only' },
      'node_modules/b/node_modules/@c/d': { version: '2.0.0' },
      'node_modules/e': { version: '3.0.0', license: '(GPL-2.0-only OR MIT)' },
      'node_modules/f': { version: '4.0.0', license: 'GPL-2.0-only', dev: true },
    },
  };
  assert.throws(
    () => licencesPage(productionPackages(other)),
    /^Error: not allowed: @c\/d 2\.0\.0 \(none stated\), a 1\.0\.0 \(GPL-3\.0-only\); allowed: MIT/,
  );
});

test('the package names no script and no development dependency, and pins what the lockfile pins', () => {
  const [manifest, lockfile] = [readManifest(root), readLockfile(root)];
  const published = publishedManifest(manifest);
  const members = ['bin', 'dependencies', 'description', 'engines', 'license', 'name', 'type', 'version'];
  assert.deepEqual(Object.keys(published).toSorted(), members);
  const { packages } = JSON.parse(JSON.stringify(shrinkwrap(lockfile, manifest)));
  const names = Object.keys(packages);
  assert.ok(names.includes('node_modules/fastify') && !names.includes('node_modules/typescript'));
  assert.equal(names.length, 1 + productionPackages(lockfile).length);
  assert.deepEqual(packages[''].dependencies, manifest.dependencies);
});
