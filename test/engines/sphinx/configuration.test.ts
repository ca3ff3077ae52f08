import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { DEMO_DOMAINS } from '../../../src/catalogue/demo.ts';
import { sphinxConfiguration } from '../../../src/engines/sphinx/configuration.ts';

const FILE = new URL('../../../deploy/sphinx/sphinx.conf', import.meta.url);

function configurationFor(dialect: 'sphinx' | 'manticore'): string {
  return sphinxConfiguration({
    domains: DEMO_DOMAINS.map((domain) => ({ domain: { ...domain, answerProfile: '' }, index: domain.name })),
    searchd: { dialect, host: '127.0.0.1', port: 9306, maxConnections: 64 },
    directory: '/var/lib/serpcache/sphinx',
  });
}

it('deploy/sphinx/sphinx.conf is what sphinx-source writes for the demo domains', async () => {
  const found = await readFile(FILE, 'utf8').catch(() => 'no such file');
  const how = 'run serpcache sphinx-source --out /var/lib/serpcache/sphinx and copy its sphinx.conf';
  assert.equal(found, configurationFor('sphinx'), how);
});

it('connections are bounded by the directive that the server has', () => {
  assert.match(configurationFor('sphinx'), /^ {2}max_children = 64$/m);
  assert.match(configurationFor('manticore'), /^ {2}max_connections = 64$/m);
  assert.doesNotMatch(configurationFor('manticore'), /^ *max_children/m);
});
