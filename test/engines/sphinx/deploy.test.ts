import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { DEMO_DOMAINS } from '../../../src/catalogue/demo.ts';
import { sphinxConfiguration } from '../../../src/engines/sphinx/configuration.ts';

const FILE = new URL('../../../deploy/sphinx/sphinx.conf', import.meta.url);

it('deploy/sphinx/sphinx.conf is what sphinx-source writes for the demo domains', async () => {
  const expected = sphinxConfiguration({
    domains: DEMO_DOMAINS.map((domain) => ({ domain: { ...domain, answerProfile: '' }, index: domain.name })),
    searchd: { dialect: 'sphinx', host: '127.0.0.1', port: 9306, maxConnections: 64 },
    directory: '/var/lib/serpcache/sphinx',
  });
  const found = await readFile(FILE, 'utf8').catch(() => 'no such file');
  assert.equal(found, expected, 'run serpcache sphinx-source --out /var/lib/serpcache/sphinx and copy its sphinx.conf');
});
