import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { candidateIn, parseSources, withBackports } from '../../loadtest/stack/archive.ts';

/** Runs `withBackports` on a machine with these files in /etc/apt. */
function machine(t: TestContext, files: Readonly<Record<string, string>>, release = 'VERSION_CODENAME=bookworm\n') {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-apt-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'apt/sources.list.d'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'apt', name), text);
  writeFileSync(join(folder, 'os-release'), release);
  const result = withBackports(join(folder, 'out'), join(folder, 'apt'), join(folder, 'os-release'));
  const copy = join(folder, 'out', 'sources.list.d');
  const added = (): string => {
    const [name = ''] = readdirSync(copy).filter((file) => file.startsWith('serpcache-'));
    return readFileSync(join(copy, name), 'utf8');
  };
  return { result, copy, added };
}

test("the source of backports is made from the machine's own stanza, key and options included", (t) => {
  const { result, copy, added } = machine(t, {
    'sources.list.d/debian.sources': [
      '# a comment',
      'Types: deb deb-src',
      'URIs: http://archive.test/debian',
      'Suites: bookworm',
      '  bookworm-updates',
      'Components: main contrib',
      'Signed-By: /usr/share/keyrings/debian.gpg',
      '',
      'Types: deb',
      'URIs: http://archive.test/debian-security',
      'Suites: bookworm-security',
      'Components: main',
    ].join('\n'),
    'sources.list.d/other.list': 'deb https://other.test/apt bookworm main\n',
  });
  const options = ['-o', `Dir::Etc::sourceparts=${copy}`];
  assert.deepEqual(result, { options, preferred: [...options, '-o', 'APT::Default-Release=bookworm-backports'] });
  assert.deepEqual(readdirSync(copy).sort(), ['debian.sources', 'other.list', 'serpcache-backports.sources']);
  assert.equal(
    added(),
    'Types: deb deb-src\nURIs: http://archive.test/debian\nComponents: main contrib\n' +
      'Signed-By: /usr/share/keyrings/debian.gpg\nSuites: bookworm-backports\n',
  );
});

test('the source of backports is made from a line of sources.list, options in brackets included', (t) => {
  const { added } = machine(t, {
    'sources.list': [
      '# deb http://old.test/debian bookworm main',
      'deb-src http://archive.test/debian bookworm main',
      'deb https://third.test/apt bookworm main',
      'deb [arch=amd64 signed-by=/k.gpg] http://archive.test/debian/ bookworm main contrib # ours',
    ].join('\n'),
  });
  assert.equal(
    added(),
    'deb [arch=amd64 signed-by=/k.gpg] http://archive.test/debian/ bookworm-backports main contrib\n',
  );
});

test('a machine without a source of its own release gets a one-sentence error', (t) => {
  const { result } = machine(t, { 'sources.list': 'deb http://archive.test/debian trixie main\n' });
  assert.match(String(result), /no source of bookworm/);
});

test('disabled stanzas and those without main are ignored', () => {
  const stanza = (extra: string) => `Types: deb\nURIs: http://a.test/debian\nSuites: bookworm\n${extra}\n`;
  assert.equal(parseSources(stanza('Components: main'), 'sources').length, 1);
  assert.equal(parseSources(stanza('Components: main\nEnabled: no'), 'sources').length, 0);
  assert.equal(parseSources(stanza('Components: contrib'), 'sources').length, 0);
});

test('the version that apt would install is read, and is absent for a package without one', () => {
  const policy = (candidate: string): string =>
    `golang-go:\n  Installed: (none)\n  Candidate: ${candidate}\n  Version table:\n     2:1.23~2~bpo12+1 100\n`;
  assert.equal(candidateIn(policy('2:1.19~1')), '2:1.19~1');
  assert.equal(candidateIn(policy('(none)')), undefined);
  assert.equal(candidateIn(''), undefined);
});
