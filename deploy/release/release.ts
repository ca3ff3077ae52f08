/**
 * `npm run release -- patch|minor|major|X.Y.Z [--dry-run]`: writes the version into every file that states it, closes the section
 * [Unreleased] of CHANGELOG.md, commits, and makes an annotated tag. It pushes and publishes nothing.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, type ParsedArguments, type Program, runProgram } from '../../src/commands/arguments.ts';
import { readManifest } from './dependencies.ts';
import { CHANGELOG, nextVersion, releasedChanges, withVersion } from './version.ts';

/** Without a remote nothing says which branch is the default one. */
const USUAL_BRANCHES = ['main', 'master'];

const PROGRAM: Program = {
  command: 'npm run release --',
  usage: 'patch|minor|major|X.Y.Z [--dry-run]',
  about: [
    'Makes a release of the commit that is checked out: version, CHANGELOG, commit and tag, in the folder where it is started.',
    'It refuses a tree with changes, another branch than the default one, an empty [Unreleased], and a tag that exists.',
  ],
  options: [{ name: 'dry-run', about: 'checks, says what would be written, and writes nothing' }],
  takes: { min: 1, max: 1 },
};

process.exitCode = await runProgram(PROGRAM, release);

function release(words: ParsedArguments): number {
  const root = process.cwd();
  const [wanted = ''] = words.positionals;
  const { version: current } = readManifest(root);
  const version = nextVersion(current, wanted);
  const tag = `v${version}`;
  const branch = checkedTree(tag);
  const changelog = join(root, CHANGELOG);
  const changes = releasedChanges(readFileSync(changelog, 'utf8'), version, new Date().toISOString().slice(0, 10));
  const files = [...withVersion(root, version), { file: CHANGELOG, text: changes.text }];
  console.log(`${current} → ${version}: ${files.map(({ file }) => file).join(', ')}; tag ${tag}`);
  if (words.has('dry-run')) {
    console.log(`nothing was written\n\n${changes.section}`);
    return EXIT.passed;
  }
  const names = files.map(({ file }) => file);
  for (const { file, text } of files) writeFileSync(join(root, file), text);
  try {
    git(['commit', '--quiet', '--message', `release: ${version}`, '--', ...names]);
  } catch (error) {
    git(['checkout', '--quiet', 'HEAD', '--', ...names]);
    throw new Error(`nothing was released, the files are as before: ${messageOf(error)}`);
  }
  try {
    // A message may have lines that begin with #, headings.
    git(['tag', '--annotate', '--cleanup=whitespace', '--file=-', tag], `serpcache ${version}\n\n${changes.section}\n`);
  } catch (error) {
    throw new Error(`the commit has no tag; git reset --hard HEAD~1 takes it back: ${messageOf(error)}`);
  }
  console.log(`now: git push --atomic origin ${branch} ${tag}`);
  return EXIT.passed;
}

/** @returns the branch. @throws when a release must not be made from here. */
function checkedTree(tag: string): string {
  const branch = git(['branch', '--show-current']);
  const remote = git(['for-each-ref', '--format=%(symref:lstrip=3)', 'refs/remotes/origin/HEAD']);
  const allowed = remote === '' ? USUAL_BRANCHES : [remote];
  if (!allowed.includes(branch)) throw new Error(`the branch is ${branch || 'none'}; allowed: ${allowed.join(', ')}`);
  const changes = git(['status', '--porcelain']).split('\n').filter(Boolean);
  if (changes.length > 0) throw new Error(`the tree has changes: ${changes.slice(0, 5).join(', ')}`);
  if (git(['tag', '--list', tag]) !== '') throw new Error(`there is a tag ${tag} already`);
  return branch;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @returns its output. @throws with its last words. */
function git(args: readonly string[], input = ''): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]}: ${error?.message || stderr.trim() || `exit status ${status}`}`);
  return stdout.trim();
}
